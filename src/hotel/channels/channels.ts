import { type Actor, prepareAudit } from '#access/audit/audit.ts';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { createKeyMaker, type KeyMaker, newSecret } from '#access/credentials/credentials.ts';
import { type ApiError, apiError, notFound } from '#platform/errors.ts';
import type { Keyring, SecretColumn } from '#platform/keys/keys.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import type { Feature } from '#access/tenants/tenants.ts';
import { verifySignature } from '#webhooks/deliveries/deliveries.ts';
import type { ChannelCall } from './channel-call.ts';
import type { Channel, ChannelSecret } from './schema.ts';
import * as store from './store.ts';

export type { ChannelCall } from './channel-call.ts';
export { receiveReservation } from './receive.ts';

/** Decision 30: whole seconds a call's clock may differ from ours. */
const MAX_CLOCK_DIFFERENCE_SECONDS = 5 * 60;

/** What a call shows of itself: the values of its headers, where it has them. */
export interface ShownProof {
  channelKey: unknown;
  timestamp: unknown;
  signature: unknown;
}

/** A call whose channel is known, before its signature was looked at. */
export interface UnprovedCall {
  channelId: string;
  secret: string;
  call: ChannelCall;
}

/** Where OTA reservations come from: made and withdrawn by the owner (decision 30). */
export class Channels {
  readonly #db: Database;
  readonly #keyring: Keyring;
  readonly #keyMaker: KeyMaker;

  constructor({ db, keyring }: { db: Database; keyring: Keyring }) {
    this.#db = db;
    this.#keyring = keyring;
    this.#keyMaker = createKeyMaker(keyring.pepper, 'rck_');
  }

  async list(tenantId: number): Promise<Channel[]> {
    return (await store.listChannels(this.#db, tenantId)).map(shape);
  }

  async create(actor: Actor, source: string): Promise<ChannelSecret> {
    const { tenantId } = actor;
    const writeDown = prepareAudit(actor);
    const secret = newSecret();
    const channel = { id: newId(), source, channel_key: this.#keyMaker.newApiKey(tenantId) };
    await inTransaction(this.#db, async (tx) => {
      const channel_secret = await this.#keyring.encrypt(tx, secret, secretLocation(tenantId, channel.channel_key));
      await store.insertChannel(tx, tenantId, { ...channel, channel_secret });
      await writeDown(tx, { action: 'channel.created', subject: channel.id, details: { source } });
    });
    return { ...channel, channel_secret: secret };
  }

  /** Withdraws a channel for good; doing it again changes nothing. @throws ApiError 404 `error` */
  async revoke(actor: Actor, id: string): Promise<Channel> {
    const writeDown = prepareAudit(actor);
    return await inTransaction(this.#db, async (tx) => {
      const row = isUuid(id) ? await store.lockChannel(tx, actor.tenantId, id) : undefined;
      if (row === undefined) {
        throw notFound('channel');
      }
      if (row.is_active) {
        await store.revokeChannel(tx, actor.tenantId, row.id);
        await writeDown(tx, { action: 'channel.revoked', subject: row.id, details: { source: row.source } });
      }
      return shape({ ...row, is_active: false });
    });
  }

  /**
   * Finds the channel that a call says it is from. Nothing is proved by that; it keeps bodies of strangers from being read at all.
   * @throws ApiError 401 `invalid_credentials`, the same for whatever is wrong with key, timestamp or signature
   */
  async recognise(shown: ShownProof): Promise<UnprovedCall> {
    const key = textOf(shown.channelKey);
    const tenantId = this.#keyMaker.tenantOfApiKey(key);
    const timestamp = /^[1-9]\d{0,11}$/.test(textOf(shown.timestamp)) ? Number(shown.timestamp) : Number.NaN;
    const isTimely = Math.abs(Math.floor(Date.now() / 1000) - timestamp) <= MAX_CLOCK_DIFFERENCE_SECONDS;
    const row = await store.findByChannelKey(this.#db, tenantId, key);
    if (row === undefined || !row.is_active || !isTimely) {
      throw notProved();
    }
    const { id: channelId, source, currency, channel_secret } = row;
    return {
      channelId,
      secret: await this.#keyring.decrypt(channel_secret, secretLocation(tenantId, key)),
      call: {
        tenantId,
        source,
        features: row.features as Feature[],
        currency,
        timestamp,
        signature: textOf(shown.signature),
      },
    };
  }
}

/**
 * The call, once its signature is found to be over the body.
 * @param body the bytes as they arrived: they are what is signed
 * @throws ApiError 401 `invalid_credentials`
 */
export function proveCall({ call, secret }: UnprovedCall, body: Buffer): ChannelCall {
  if (!verifySignature(secret, { timestampSeconds: call.timestamp, body, signature: call.signature })) {
    throw notProved();
  }
  return call;
}

function notProved(): ApiError {
  return apiError('invalid_credentials', 'The channel key, the timestamp or the signature is not valid.', {
    'www-authenticate': 'Signature',
  });
}

/** What an encrypted channel secret is bound to: it opens for no other tenant or channel. */
function secretLocation(tenantId: number, channelKey: string): string {
  return `channel secret of ${tenantId} ${channelKey}`;
}

/** The encrypted secrets of all channels, for the rotation of keys. */
export const channelSecrets: SecretColumn = {
  async readBefore(db, tenantId, bytes, afterId, limit) {
    const rows = await store.readChannelSecretsBefore(db, tenantId, bytes, afterId, limit);
    return rows.map(({ id, channel_key, channel_secret }) => ({
      id,
      location: secretLocation(tenantId, channel_key),
      ciphertext: channel_secret,
    }));
  },
  replace: (tx, tenantId, { id, ciphertext: from }, to) => store.replaceChannelSecret(tx, tenantId, { id, from, to }),
};

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function shape(row: store.ChannelRow): Channel {
  const { id, source, channel_key, is_active, created_at } = row;
  return { id, source, channel_key, is_active, created_at: created_at.toISOString() };
}
