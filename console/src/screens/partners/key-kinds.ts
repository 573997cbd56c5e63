import { useMutation } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { rereadTopics } from '../../api/query-client.ts';

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

interface KeyKind {
  /** Title of the dialog that asks for a new one, and word of the button that opens it. */
  title: string;
  /** Label of the field for its name. */
  name: string;
  description: string;
  example: string;
  create: (label: string) => Promise<Secret>;
}

/** What differs between the lists of PMS and of channels. Their secrets change at once, without an overlap. */
export interface PlainKind extends KeyKind {
  list: string;
  empty: string;
  revokeText: string;
  rotate: (id: string) => Promise<Secret>;
  revoke: (id: string) => Promise<unknown>;
}

export const ENDED = 'The old secret has ended.';

const PLATFORM: KeyKind = {
  title: 'Connect a partner',
  name: 'Name of the platform',
  description: 'Its orders and stays carry this name. One credential is enough for restaurant and hotel.',
  example: 'City Delivery',
  create: async (label) => secretOf('partners', await call('createCredential', { body: { label } })),
};

export const PMS: PlainKind = {
  title: 'Connect a PMS',
  name: 'Name of the PMS',
  description: 'It reads stays, and writes prices and restrictions.',
  example: 'Front office',
  list: 'PMS',
  empty: 'No PMS is connected.',
  revokeText: 'The PMS is refused at once, on all nodes.',
  create: async (label) => secretOf('pms', await call('createPmsCredential', { body: { label } })),
  rotate: async (id) => secretOf('pms', await call('rotatePmsCredential', { path: { id } }), ENDED),
  revoke: (id) => call('revokePmsCredential', { path: { id } }),
};

export const CHANNEL: PlainKind = {
  title: 'Connect a channel',
  name: 'Name of the OTA',
  description: 'Stays that come through the channel carry this name.',
  example: 'booking.com',
  list: 'Channels',
  empty: 'No channel is connected.',
  revokeText: 'Reservations of the channel are refused at once. Its stays are kept.',
  create: async (source) => secretOf('channels', await call('createChannel', { body: { source } })),
  rotate: async (id) => secretOf('channels', await call('rotateChannel', { path: { id } }), ENDED),
  revoke: (id) => call('revokeChannel', { path: { id } }),
};

export const KINDS = { partners: PLATFORM, pms: PMS, channels: CHANNEL };

/** What the answer of a write says of a new key, which is named otherwise for a channel. */
type Made =
  | { label: string; api_key: string; api_secret: string }
  | { source: string; channel_key: string; channel_secret: string };

export function secretOf(kind: Kind, made: Made, note?: string): Secret {
  return 'source' in made
    ? { kind, label: made.source, key: made.channel_key, secret: made.channel_secret, note }
    : { kind, label: made.label, key: made.api_key, secret: made.api_secret, note };
}

/** A write about a key. Its answer may hold a secret, so it is kept nowhere but in what `done` makes of it. */
export function useKeyWrite<Result, Sent = void>(
  write: (sent: Sent) => Promise<Result>,
  done: (result: Result) => void,
) {
  const mutation = useMutation({
    mutationFn: write,
    gcTime: 0,
    onSuccess(result) {
      mutation.reset();
      done(result);
      rereadTopics(new Set(['credentials']));
    },
  });
  return mutation;
}
