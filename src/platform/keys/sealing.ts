import { type CipherKey, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts with AES-256-GCM, bound to the name of a place. Returns nonce, authentication tag and ciphertext. */
export function encryptBound(key: CipherKey, plain: Buffer, boundTo: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(boundTo));
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** Decrypts the result of `encryptBound`. @throws Error if the key, `boundTo` or any byte differs */
export function decryptBound(key: CipherKey, encrypted: Buffer, boundTo: string): Buffer {
  const nonce = encrypted.subarray(0, NONCE_BYTES);
  const tag = encrypted.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(boundTo)).setAuthTag(tag);
  return Buffer.concat([decipher.update(encrypted.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
