import { useState } from 'react';
import { TextField } from '../../ui/fields.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { type Kind, KINDS, type Secret, useKeyWrite } from './key-kinds.ts';
import { SecretDialog } from './secret-dialog.tsx';

/** Asks for a name, and shows key and secret once. */
export function NewPartner({ kind, isOpen, onClose }: { kind: Kind; isOpen: boolean; onClose: () => void }) {
  const [label, setLabel] = useState('');
  const [secret, setSecret] = useState<Secret | null>(null);
  const { title, name, description, example, create } = KINDS[kind];
  const sending = useKeyWrite(
    () => create(label.trim()),
    (made) => {
      setSecret(made);
      setLabel('');
      onClose();
    },
  );
  return (
    <>
      <FormDialog
        title={title}
        isOpen={isOpen}
        onClose={onClose}
        action="Make key and secret"
        isReady={label.trim() !== ''}
        sending={sending}
      >
        <TextField
          label={name}
          description={description}
          placeholder={example}
          data-autofocus
          maxLength={100}
          value={label}
          onChange={setLabel}
        />
      </FormDialog>
      <SecretDialog secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}
