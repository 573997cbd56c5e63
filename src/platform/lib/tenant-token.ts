import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

const BLOCK_BYTES = 16;
/** First bytes of the secret, which the encrypted block contains too, so that `read` finds forged tokens. */
const REPEATED_BYTES = 8;
const SECRET_BYTES = 32;
const TOKEN = new RegExp(`^[\\w-]{${((BLOCK_BYTES + SECRET_BYTES) * 4) / 3}}$`);

export interface ReadToken {
  tenantId: number;
  hash: Buffer;
}

/** Makes and reads secret tokens of one kind, for example of sessions. `read` does not accept a token of another kind. */
export type TenantTokens = ReturnType<typeof createTenantTokens>;

/**
 * Token: an AES block with the tenant id and 64 bits of the secret, and the secret. So a forged token costs no query. ECB is safe for a
 * single block of which 64 bits are random.
 */
export function createTenantTokens(pepper: Buffer, purpose: string) {
  const blockKey = Buffer.from(hkdfSync('sha256', pepper, '', `${purpose}-tenant`, 16));
  const hashKey = Buffer.from(hkdfSync('sha256', pepper, '', `${purpose}-hash`, 32));
  const hashOf = (token: string) => createHmac('sha256', hashKey).update(token).digest();
  return {
    create(tenantId: number): { token: string; hash: Buffer } {
      const secret = randomBytes(SECRET_BYTES);
      const block = Buffer.alloc(BLOCK_BYTES);
      block.writeBigInt64BE(BigInt(tenantId));
      secret.copy(block, BLOCK_BYTES - REPEATED_BYTES, 0, REPEATED_BYTES);
      const encrypted = createCipheriv('aes-128-ecb', blockKey, null).setAutoPadding(false).update(block);
      const token = Buffer.concat([encrypted, secret]).toString('base64url');
      return { token, hash: hashOf(token) };
    },
    /** Returns null for a text that `create` has not made with the same pepper and the same purpose. */
    read(token: string): ReadToken | null {
      if (!TOKEN.test(token)) {
        return null;
      }
      const bytes = Buffer.from(token, 'base64url');
      const decipher = createDecipheriv('aes-128-ecb', blockKey, null).setAutoPadding(false);
      const block = decipher.update(bytes.subarray(0, BLOCK_BYTES));
      const repeated = bytes.subarray(BLOCK_BYTES, BLOCK_BYTES + REPEATED_BYTES);
      if (!timingSafeEqual(block.subarray(BLOCK_BYTES - REPEATED_BYTES), repeated)) {
        return null;
      }
      return { tenantId: Number(block.readBigInt64BE()), hash: hashOf(token) };
    },
  };
}
