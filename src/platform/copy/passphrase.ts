import { argon2, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { type Static, Type } from 'typebox';
import { OperatorError } from '../errors.ts';
import { readTextFile } from '../lib/text-file.ts';

const argon2id = promisify(argon2).bind(null, 'argon2id');

/** Cost of argon2id for a backup (RFC 9106, section 4, second recommendation): 64 MiB of memory, 3 passes, 4 lanes. Memory is in KiB. */
const COST = { memory: 65_536, passes: 3, parallelism: 4 };
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const MAX_PASSPHRASE_BYTES = 65_536;

const base64 = (bytes: number) => {
  const length = Math.ceil(bytes / 3) * 4;
  return Type.String({ minLength: length, maxLength: length, pattern: '^[A-Za-z0-9+/]+={0,2}$' });
};

/**
 * Master key, encrypted with AES-256-GCM. Argon2id derives the key of this encryption from a passphrase. A backup from an unknown source
 * may contain any numbers. So `memory`, `passes` and `parallelism` have maximum values, which limit the memory and the time for deriving
 * the key.
 */
export const SealedKey = Type.Object({
  kdf: Type.Literal('argon2id'),
  memory: Type.Integer({ minimum: 64, maximum: 262_144 }),
  passes: Type.Integer({ minimum: 1, maximum: 10 }),
  parallelism: Type.Integer({ minimum: 1, maximum: 8 }),
  cipher: Type.Literal('aes-256-gcm'),
  salt: base64(SALT_BYTES),
  nonce: base64(NONCE_BYTES),
  tag: base64(TAG_BYTES),
  ciphertext: base64(KEY_BYTES),
});
export type SealedKey = Static<typeof SealedKey>;

/**
 * Reads a passphrase from a file. Removes one line break at the end.
 * @throws OperatorError if the file cannot be read, is empty, is too long or is not UTF-8
 */
export async function readPassphrase(path: string): Promise<string> {
  const name = `The passphrase file ${path}`;
  const passphrase = (await readTextFile(path, name, MAX_PASSPHRASE_BYTES)).replace(/\r?\n$/, '');
  if (passphrase === '') {
    throw new OperatorError(`${name} is empty. Write the passphrase into it.`);
  }
  return passphrase;
}

/** Encrypts the master key (32 bytes) with a key that is derived from the passphrase. */
export async function sealMasterKey(masterKey: Buffer, passphrase: string): Promise<SealedKey> {
  const salt = randomBytes(SALT_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', await deriveKey(passphrase, salt, COST), nonce);
  const ciphertext = Buffer.concat([cipher.update(masterKey), cipher.final()]);
  return {
    kdf: 'argon2id',
    ...COST,
    cipher: 'aes-256-gcm',
    salt: salt.toString('base64'),
    nonce: nonce.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    ciphertext: ciphertext.toString('base64'),
  };
}

/**
 * Decrypts the master key.
 * @throws OperatorError if the passphrase is wrong
 */
export async function openSealedKey(sealed: SealedKey, passphrase: string): Promise<Buffer> {
  const key = await decrypt(sealed, passphrase);
  if (key === null) {
    throw new OperatorError(
      'The passphrase does not decrypt the master key of this backup. Use the passphrase with which the backup was made.',
    );
  }
  return key;
}

/** Returns null if the passphrase is wrong, or if the encrypted key was changed. */
async function decrypt(sealed: SealedKey, passphrase: string): Promise<Buffer | null> {
  const { memory, passes, parallelism } = sealed;
  const bytes = (text: string) => Buffer.from(text, 'base64');
  const key = await deriveKey(passphrase, bytes(sealed.salt), { memory, passes, parallelism });
  const decipher = createDecipheriv('aes-256-gcm', key, bytes(sealed.nonce), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes(sealed.tag));
  try {
    return Buffer.concat([decipher.update(bytes(sealed.ciphertext)), decipher.final()]);
  } catch {
    return null;
  }
}

async function deriveKey(passphrase: string, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  // A Mac may type the same letters in another Unicode form.
  return await argon2id({ ...cost, message: passphrase.normalize('NFC'), nonce: salt, tagLength: KEY_BYTES });
}
