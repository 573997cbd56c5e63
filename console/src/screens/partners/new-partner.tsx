import { Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { rereadTopics } from '../../api/query-client.ts';
import { Form } from '../../ui/form.tsx';
import { type Kind, type Secret, SecretDialog } from './secret-dialog.tsx';

const WORDS: Record<Kind, { title: string; label: string; description: string; example: string }> = {
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
  const sending = useMutation({
    mutationFn: () => create(kind, label.trim()),
    onSuccess(made) {
      setSecret(made);
      setLabel('');
      onClose();
      sending.reset();
      rereadTopics(new Set(['credentials']));
    },
  });
  const words = WORDS[kind];
  return (
    <>
      <Modal opened={isOpen} onClose={onClose} title={words.title}>
        <Form action="Make key and secret" sending={sending} isReady={label.trim() !== ''} onCancel={onClose}>
          <TextInput
            label={words.label}
            description={words.description}
            placeholder={words.example}
            data-autofocus
            maxLength={100}
            value={label}
            onChange={(event) => setLabel(event.currentTarget.value)}
          />
        </Form>
      </Modal>
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
