import { useState } from 'react';
import { call } from '../../api/client.ts';
import { TextField } from '../../ui/fields.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { type Kind, type Secret, SecretDialog } from './secret-dialog.tsx';
import { useKeyWrite } from './use-key-write.ts';

/** What the dialog of each kind says. The title is also what the button that opens it says. */
export const NEW: Record<Kind, { title: string; label: string; description: string; example: string }> = {
  partners: {
    title: 'Connect a partner',
    label: 'Name of the platform',
    description: 'Its orders and stays carry this name. One credential is enough for restaurant and hotel.',
    example: 'City Delivery',
  },
  pms: {
    title: 'Connect a PMS',
    label: 'Name of the PMS',
    description: 'It reads stays, and writes prices and restrictions.',
    example: 'Front office',
  },
  channels: {
    title: 'Connect a channel',
    label: 'Name of the OTA',
    description: 'Stays that come through the channel carry this name.',
    example: 'booking.com',
  },
};

/** Asks for a name, and shows key and secret once. */
export function NewPartner({ kind, isOpen, onClose }: { kind: Kind; isOpen: boolean; onClose: () => void }) {
  const [label, setLabel] = useState('');
  const [secret, setSecret] = useState<Secret | null>(null);
  const { title, example, ...words } = NEW[kind];
  const sending = useKeyWrite(
    () => create(kind, label.trim()),
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
        <TextField {...words} placeholder={example} data-autofocus maxLength={100} value={label} onChange={setLabel} />
      </FormDialog>
      <SecretDialog secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}

async function create(kind: Kind, label: string): Promise<Secret> {
  if (kind === 'channels') {
    const made = await call('createChannel', { body: { source: label } });
    return { kind, label: made.source, key: made.channel_key, secret: made.channel_secret };
  }
  const name = kind === 'partners' ? 'createCredential' : 'createPmsCredential';
  const made = await call(name, { body: { label } });
  return { kind, label: made.label, key: made.api_key, secret: made.api_secret };
}
