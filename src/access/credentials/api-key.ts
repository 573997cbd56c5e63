import { randomBytes } from 'node:crypto';
import { keyedHash } from '#platform/lib/keyed-hash.ts';
import { createTenantBlocks } from '#platform/lib/tenant-token.ts';

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
 * An API key is a block with the tenant id and 64 random bits. Its look-up reads the tenant id from it, so that the look-up can filter by
 * tenant ("The database" in docs/ARCHITECTURE.md). An API key is an identifier, not a secret.
 */
export function createKeyMaker(pepper: Buffer, prefix: KeyPrefix) {
  const blocks = createTenantBlocks(pepper, 'api-key');
  return {
    newApiKey: (tenantId: number): string => prefix + blocks.seal(tenantId, randomBytes(8)).toString('base64url'),
    /** Returns 0 if the text does not have the form of a key, or contains no valid id. */
    tenantOfApiKey(apiKey: string): number {
      const block = apiKey.startsWith(prefix) ? Buffer.from(apiKey.slice(prefix.length), 'base64url') : null;
      if (block?.length !== 16) {
        return 0;
      }
      const { tenantId } = blocks.open(block);
      return Number.isSafeInteger(tenantId) && tenantId > 0 ? tenantId : 0;
    },
    hashSecret: keyedHash(pepper, 'api-secret'),
  };
}

/** A person can recognise the shortened key, but cannot use it (rule 38). */
export function shortenKey(apiKey: string): string {
  return `${apiKey.slice(0, 8)}…${apiKey.slice(-4)}`;
}
