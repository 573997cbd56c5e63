import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'rss_';
const SECRET_BYTES = 32;

/** What a key is for, shown in front of it, so that a key that was mixed up is seen at a glance. */
export type KeyPrefix = 'rsk_' | 'rpk_' | 'rck_';

/** Makes and reads API keys, and hashes API secrets, under keys derived from the pepper. */
export interface KeyMaker {
  newApiKey(tenantId: number): string;
  /** The tenant an API key was made for; 0, which is nobody, for a text that is no API key of ours. */
  tenantOfApiKey(apiKey: string): number;
  hashSecret(apiSecret: string): Buffer;
}

/** 256 random bits. */
export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
}

/**
 * An API key is one AES block over tenant id and 64 random bits: it carries its tenant so that a look-up can filter by it
 * (architecture, database rule 2), and shows it to nobody. It is a name, not a secret.
 */
export function createKeyMaker(pepper: Buffer, prefix: KeyPrefix): KeyMaker {
  const blockKey = Buffer.from(hkdfSync('sha256', pepper, '', 'api-key', 16));
  const secretKey = Buffer.from(hkdfSync('sha256', pepper, '', 'api-secret', 32));
  return {
    newApiKey(tenantId) {
      const block = Buffer.alloc(16);
      block.writeBigInt64BE(BigInt(tenantId));
      randomBytes(8).copy(block, 8);
      return prefix + cipher(blockKey).update(block).toString('base64url');
    },
    tenantOfApiKey(apiKey) {
      const block = apiKey.startsWith(prefix) ? Buffer.from(apiKey.slice(prefix.length), 'base64url') : null;
      if (block?.length !== 16) {
        return 0;
      }
      const tenantId = Number(decipher(blockKey).update(block).readBigInt64BE());
      return Number.isSafeInteger(tenantId) && tenantId > 0 ? tenantId : 0;
    },
    hashSecret: (apiSecret) => createHmac('sha256', secretKey).update(apiSecret).digest(),
  };
}

/** A key as everything shows it but the answers that issue it: enough to tell it by, not enough to use it (decision 38). */
export function shortenKey(apiKey: string): string {
  return `${apiKey.slice(0, 8)}…${apiKey.slice(-4)}`;
}

/** ECB is right here and here alone: one block, made of a unique value. */
function cipher(key: Buffer) {
  return createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
}

function decipher(key: Buffer) {
  return createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false);
}
