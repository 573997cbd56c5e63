import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

export const AUDIENCES = {
  third_party: {
    headers: 'X-API-Key and X-API-Secret',
    keyHeader: 'x-api-key',
    secretHeader: 'x-api-secret',
    security: ['apiKey', 'apiSecret'],
    prefix: 'rsk_',
  },
  pms: {
    headers: 'X-PMS-API-Key and X-PMS-API-Secret',
    keyHeader: 'x-pms-api-key',
    secretHeader: 'x-pms-api-secret',
    security: ['pmsApiKey', 'pmsApiSecret'],
    prefix: 'rpk_',
  },
} as const;

export type Audience = keyof typeof AUDIENCES;

const SECRET_PREFIX = 'rss_';
const SECRET_BYTES = 32;

/** The prefix shows which API a key is for, so that a person notices a key that is used for the wrong API. */
type KeyPrefix = 'rsk_' | 'rpk_' | 'rck_';

export type KeyMaker = ReturnType<typeof createKeyMaker>;

export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
}

/**
 * An API key is one AES block: the tenant id and 64 random bits, encrypted. The look-up of an API key decrypts the tenant id, so that it
 * can filter by tenant ("The database" in docs/ARCHITECTURE.md). People who see an API key cannot read the tenant id. An API key is an
 * identifier, not a secret.
 */
export function createKeyMaker(pepper: Buffer, prefix: KeyPrefix) {
  const blockKey = Buffer.from(hkdfSync('sha256', pepper, '', 'api-key', 16));
  const secretKey = Buffer.from(hkdfSync('sha256', pepper, '', 'api-secret', 32));
  return {
    newApiKey(tenantId: number): string {
      const block = Buffer.alloc(16);
      block.writeBigInt64BE(BigInt(tenantId));
      randomBytes(8).copy(block, 8);
      return prefix + cipher(blockKey).update(block).toString('base64url');
    },
    /** Returns 0 if the text does not have the form of a key, or contains no valid id. */
    tenantOfApiKey(apiKey: string): number {
      const block = apiKey.startsWith(prefix) ? Buffer.from(apiKey.slice(prefix.length), 'base64url') : null;
      if (block?.length !== 16) {
        return 0;
      }
      const tenantId = Number(decipher(blockKey).update(block).readBigInt64BE());
      return Number.isSafeInteger(tenantId) && tenantId > 0 ? tenantId : 0;
    },
    hashSecret: (apiSecret: string): Buffer => createHmac('sha256', secretKey).update(apiSecret).digest(),
  };
}

/** A person can recognise the shortened key, but cannot use it (rule 38). */
export function shortenKey(apiKey: string): string {
  return `${apiKey.slice(0, 8)}…${apiKey.slice(-4)}`;
}

/** ECB is safe here, because it encrypts a single block, of which 64 bits are random. */
function cipher(key: Buffer) {
  return createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
}

function decipher(key: Buffer) {
  return createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false);
}
