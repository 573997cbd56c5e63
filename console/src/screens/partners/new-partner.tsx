import { useState } from 'react';
import { TextField } from '../../ui/fields.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { type Kind, KINDS, useKeyWrite } from './key-kinds.ts';
import { showSecret } from './secret-dialog.tsx';

/** Asks for a name, and makes key and secret. */
export function NewPartner({ kind, isOpen, onClose }: { kind: Kind; isOpen: boolean; onClose: () => void }) {
  const [label, setLabel] = useState('');
  const { title, name, description, example, create } = KINDS[kind];
  const sending = useKeyWrite(
    () => create(label.trim()),
    (made) => {
      onClose();
      setLabel('');
      showSecret(made);
    },
  );
  return (
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
  );
}
