/** Channels (booking sites), and the receiver of their reservations. */
import { type Actor, prepareAudit } from '#access/audit/audit.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { createKeyMaker, type KeyMaker, newSecret } from '#access/credentials/credentials.ts';
import { type ApiError, apiError, orNotFound } from '#platform/errors.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import type { Feature } from '#access/tenants/tenants.ts';
import { verifySignature } from '#webhooks/deliveries/deliveries.ts';
import type { ChannelCall } from './receive.ts';
import type { Channel, ChannelSecret } from './schema.ts';
import * as store from './store.ts';

export { type ChannelCall, receiveReservation } from './receive.ts';

/** Largest accepted difference between the timestamp of a call and the clock of the service, in whole seconds (rule 30). */
const MAX_CLOCK_DIFFERENCE_SECONDS = 5 * 60;

/** A missing header is an empty text. */
interface CallHeaders {
  channelKey: string;
  timestamp: string;
  signature: string;
}

/** Call whose channel is known and active, but whose signature is not verified yet. */
export interface UnverifiedCall {
  secret: string;
  call: ChannelCall;
}

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
    const recordAudit = prepareAudit(actor);
    const { stored, shown } = this.#newProof(tenantId);
    const id = newId();
    await inTransaction(this.#db, async (tx) => {
      await store.insertChannel(tx, tenantId, { id, source, ...stored });
      await recordAudit(tx, { action: 'channel.created', subject: id, details: { source } });
    });
    return { id, source, ...shown };
  }

  /** @throws ApiError 404 (code `error`) if the id is unknown */
  async revoke(actor: Actor, id: string): Promise<Channel> {
    const recordAudit = prepareAudit(actor);
    return await this.#change(actor.tenantId, id, async (tx, row) => {
      if (row.is_active) {
        await store.updateChannel(tx, actor.tenantId, row.id, { is_active: false });
        await recordAudit(tx, { action: 'channel.revoked', subject: row.id, details: { source: row.source } });
      }
      return shape({ ...row, is_active: false });
    });
  }

  /**
   * When this method returns, every process refuses calls with the old key, because each call reads its channel from the database.
   * @throws ApiError 404 (code `error`) if the id is unknown, 409 `invalid_status_transition` if the channel is revoked
   */
  async rotate(actor: Actor, id: string): Promise<ChannelSecret> {
    const { tenantId } = actor;
    const recordAudit = prepareAudit(actor);
    const { stored, shown } = this.#newProof(tenantId);
    return await this.#change(tenantId, id, async (tx, row) => {
      if (!row.is_active) {
        throw apiError('invalid_status_transition', 'The channel is revoked. Create a new one with the same source.');
      }
      await store.updateChannel(tx, tenantId, row.id, stored);
      await recordAudit(tx, { action: 'channel.rotated', subject: row.id, details: { source: row.source } });
      return { id: row.id, source: row.source, ...shown };
    });
  }

  /**
   * The caller is not trusted until `verifyCall` has verified the signature, because the channel key is not secret.
   * @throws ApiError 401 `invalid_credentials`. The response does not say if the key or the timestamp is wrong
   */
  async findChannel({ channelKey: key, timestamp: sentAt, signature }: CallHeaders): Promise<UnverifiedCall> {
    const tenantId = this.#keyMaker.tenantOfApiKey(key);
    const timestamp = /^[1-9]\d{0,11}$/.test(sentAt) ? Number(sentAt) : Number.NaN;
    const isTimely = Math.abs(Math.floor(Date.now() / 1000) - timestamp) <= MAX_CLOCK_DIFFERENCE_SECONDS;
    const row = await store.findByChannelKey(this.#db, tenantId, key);
    if (row === undefined || !row.is_active || !isTimely) {
      throw invalidProof();
    }
    const { id: channelId, source, currency, channel_secret } = row;
    return {
      secret: this.#keyring.decrypt(channel_secret, secretLocation(tenantId, key)),
      call: { tenantId, channelId, source, features: row.features as Feature[], currency, timestamp, signature },
    };
  }

  #newProof(tenantId: number) {
    const channel_key = this.#keyMaker.newApiKey(tenantId);
    const secret = newSecret();
    const encrypted = this.#keyring.encrypt(secret, secretLocation(tenantId, channel_key));
    return { stored: { channel_key, channel_secret: encrypted }, shown: { channel_key, channel_secret: secret } };
  }

  async #change<T>(tenantId: number, id: string, change: (tx: Tx, row: store.ChannelRow) => Promise<T>): Promise<T> {
    return await inTransaction(this.#db, async (tx) => {
      const row = orNotFound(isUuid(id) ? await store.lockChannel(tx, tenantId, id) : undefined, 'channel');
      return await change(tx, row);
    });
  }
}

/**
 * Checks the signature of an OTA's call, which covers exactly the bytes of the body as they arrived.
 * @throws ApiError 401 `invalid_credentials`
 */
export function verifyCall({ call, secret }: UnverifiedCall, body: Buffer): ChannelCall {
  if (!verifySignature(secret, { timestampSeconds: call.timestamp, body, signature: call.signature })) {
    throw invalidProof();
  }
  return call;
}

function invalidProof(): ApiError {
  return apiError(
    'invalid_credentials',
    'The channel key, the timestamp or the signature is not valid. Check the key, the secret and the clock of your server.',
    { 'www-authenticate': 'Signature' },
  );
}

/** Decryption needs the same text as encryption. So a secret that was copied to another channel cannot be decrypted. */
function secretLocation(tenantId: number, channelKey: string): string {
  return `channel secret of ${tenantId} ${channelKey}`;
}

/** Reads the encrypted secrets of all channels of a tenant, each with the location to which it is bound. */
export async function readChannelSecrets(db: Database, tenantId: number) {
  return (await store.readChannelSecrets(db, tenantId)).map(({ channel_key, channel_secret }) => ({
    location: secretLocation(tenantId, channel_key),
    ciphertext: channel_secret,
  }));
}

function shape(row: store.ChannelRow): Channel {
  return { ...row, created_at: row.created_at.toISOString() };
}
