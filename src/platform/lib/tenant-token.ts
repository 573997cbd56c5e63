import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { keyedHash } from './keyed-hash.ts';

const BLOCK_BYTES = 16;
/** Random bytes in a block, beside the tenant id. */
const RANDOM_BYTES = 8;
const SECRET_BYTES = 32;
const TOKEN = new RegExp(`^[\\w-]{${((BLOCK_BYTES + SECRET_BYTES) * 4) / 3}}$`);

/**
 * Seals tenant ids, so that people who see a block cannot read its id. ECB is safe here, because a block is a single AES block, of which 64
 * bits are random.
 */
export function createTenantBlocks(pepper: Buffer, purpose: string) {
  const key = Buffer.from(hkdfSync('sha256', pepper, '', purpose, 16));
  return {
    seal(tenantId: number, random: Buffer): Buffer {
      const block = Buffer.alloc(BLOCK_BYTES);
      block.writeBigInt64BE(BigInt(tenantId));
      random.copy(block, BLOCK_BYTES - RANDOM_BYTES, 0, RANDOM_BYTES);
      return createCipheriv('aes-128-ecb', key, null).setAutoPadding(false).update(block);
    },
    open(sealed: Buffer): { tenantId: number; random: Buffer } {
      const block = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false).update(sealed);
      return { tenantId: Number(block.readBigInt64BE()), random: block.subarray(BLOCK_BYTES - RANDOM_BYTES) };
    },
  };
}

export interface ReadToken {
  tenantId: number;
  hash: Buffer;
}

/** Makes and reads secret tokens of one kind, for example of sessions. `read` does not accept a token of another kind. */
export type TenantTokens = ReturnType<typeof createTenantTokens>;

/** Token: a block with the tenant id and the first 64 bits of the secret, and the secret. So a forged token costs no query. */
export function createTenantTokens(pepper: Buffer, purpose: string) {
  const blocks = createTenantBlocks(pepper, `${purpose}-tenant`);
  const hashOf = keyedHash(pepper, `${purpose}-hash`);
  return {
    create(tenantId: number): { token: string; hash: Buffer } {
      const secret = randomBytes(SECRET_BYTES);
      const token = Buffer.concat([blocks.seal(tenantId, secret), secret]).toString('base64url');
      return { token, hash: hashOf(token) };
    },
    /** Returns null for a text that `create` has not made with the same pepper and the same purpose. */
    read(token: string): ReadToken | null {
      if (!TOKEN.test(token)) {
        return null;
      }
      const bytes = Buffer.from(token, 'base64url');
      const { tenantId, random } = blocks.open(bytes.subarray(0, BLOCK_BYTES));
      const repeated = bytes.subarray(BLOCK_BYTES, BLOCK_BYTES + RANDOM_BYTES);
      return timingSafeEqual(random, repeated) ? { tenantId, hash: hashOf(token) } : null;
    },
  };
}
