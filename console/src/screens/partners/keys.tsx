import { Stack } from '@mantine/core';
import { useState } from 'react';
import { call, type OperationName } from '../../api/client.ts';
import { CopyField } from '../../ui/copy-field.tsx';
import { ChipChoice } from '../../ui/filters.tsx';
import { showOnce } from '../../ui/once.tsx';

export type Kind = 'partners' | 'pms' | 'channels';

/** Key and secret as the service shows them once. */
export interface Secret {
  kind: Kind | 'webhook';
  label: string;
  /** The secret of a webhook has no key. */
  key?: string;
  secret: string;
  /** What else to know, for example until when the old secret works. */
  note?: string | undefined;
}

/** Reads that show keys. */
export const KEY_READS: OperationName[] = [
  'listStaffCredentials',
  'getStaffCredential',
  'listPmsCredentials',
  'listChannels',
];

export const ENDED = 'The old secret has ended.';

/** Who gets keys: in which words the house makes a new one, and how. The secrets of PMS and channels change without an overlap. */
export const KINDS = {
  partners: {
    title: 'Connect a partner',
    name: 'Name of the platform',
    description: 'Its orders and stays carry this name. One credential is enough for restaurant and hotel.',
    example: 'City Delivery',
    create: async (label: string) => secretOf('partners', await call('createCredential', { body: { label } })),
  },
  pms: {
    title: 'Connect a PMS',
    name: 'Name of the PMS',
    description: 'It reads stays, and writes prices and restrictions.',
    example: 'Front office',
    list: 'PMS',
    empty: 'No PMS is connected.',
    revokeText: 'The PMS is refused at once.',
    create: async (label: string) => secretOf('pms', await call('createPmsCredential', { body: { label } })),
    rotate: async (id: string) => secretOf('pms', await call('rotatePmsCredential', { path: { id } }), ENDED),
    revoke: (id: string) => call('revokePmsCredential', { path: { id } }),
  },
  channels: {
    title: 'Connect a channel',
    name: 'Name of the OTA',
    description: 'Stays that come through the channel carry this name.',
    example: 'booking.com',
    list: 'Channels',
    empty: 'No channel is connected.',
    revokeText: 'Reservations of the channel are refused at once. Its stays are kept.',
    create: async (source: string) => secretOf('channels', await call('createChannel', { body: { source } })),
    rotate: async (id: string) => secretOf('channels', await call('rotateChannel', { path: { id } }), ENDED),
    revoke: (id: string) => call('revokeChannel', { path: { id } }),
  },
};

/** What the answer of a write says of a new key, which is named otherwise for a channel. */
type Made =
  | { label: string; api_key: string; api_secret: string }
  | { source: string; channel_key: string; channel_secret: string };

export function secretOf(kind: Kind, made: Made, note?: string): Secret {
  return 'source' in made
    ? { kind, label: made.source, key: made.channel_key, secret: made.channel_secret, note }
    : { kind, label: made.label, key: made.api_key, secret: made.api_secret, note };
}

/** Shows a secret, with texts to hand on. */
export function showSecret({
  kind,
  label,
  key,
  secret,
  note = 'Copy it, or hand it on, before you close this.',
}: Secret) {
  showOnce({
    title: `${key === undefined ? 'Secret' : 'Key and secret'} of ${label || 'the new credential'}`,
    note: `The secret is shown only now. ${note}`,
    content: (
      <>
        {key !== undefined && <CopyField label="Key" value={key} />}
        <CopyField label="Secret" value={secret} />
        {key !== undefined && <HandOn kind={kind} keyText={key} secret={secret} />}
      </>
    ),
  });
}

type Form = 'env' | 'mail';
const FORMS: { value: Form; label: string }[] = [
  { value: 'env', label: '.env' },
  { value: 'mail', label: 'Mail, without the secret' },
];

interface HandOnProps {
  kind: Secret['kind'];
  keyText: string;
  secret: string;
}

function HandOn(props: HandOnProps) {
  const [form, setForm] = useState<Form>();
  return (
    <Stack gap={8}>
      <ChipChoice label="Text to hand on" all="Shell" options={FORMS} value={form} onChange={setForm} />
      <CopyField label="Text to hand on" value={textOf(form, props)} isCode={form !== 'mail'} />
    </Stack>
  );
}

function textOf(form: Form | undefined, { kind, keyText: key, secret }: HandOnProps): string {
  const { origin } = window.location;
  if (form === 'mail') {
    return (
      `Hello,\n\nyour access to our house is ready.\n\nAddress: ${origin}\nKey: ${key}\nThe secret comes to you on another way.\n\n` +
      `How to begin: ${origin}/docs/guides/${kind === 'partners' ? 'quick-start' : 'pms'}/\nAll calls: ${origin}/docs/\n`
    );
  }
  const isChannel = kind === 'channels';
  if (form === 'env') {
    const prefix = isChannel ? 'ROOMSERVICE_CHANNEL' : 'ROOMSERVICE_API';
    return `ROOMSERVICE_URL=${origin}\n${prefix}_KEY=${key}\n${prefix}_SECRET=${secret}`;
  }
  // A channel signs its calls, so no single line of a shell makes one.
  if (isChannel) return `export CHANNEL_KEY=${key} CHANNEL_SECRET=${secret}`;
  const [path, prefix] = kind === 'pms' ? ['channel-manager/pms/properties', 'X-PMS'] : ['third-party/menu', 'X'];
  return `export BASE=${origin} KEY=${key} SECRET=${secret}\ncurl "$BASE/v1/${path}/" -H "${prefix}-API-Key: $KEY" -H "${prefix}-API-Secret: $SECRET"`;
}
