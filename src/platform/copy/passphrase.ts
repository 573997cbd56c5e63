import { argon2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { type Static, Type } from 'typebox';
import { OperatorError } from '../errors.ts';
import { decryptBound, encryptBound } from '../keys/keys.ts';
import { readTextFile } from '../lib/text-file.ts';

const argon2id = promisify(argon2).bind(null, 'argon2id');

/** Cost of argon2id for a backup (RFC 9106, section 4, second recommendation): 64 MiB of memory, 3 passes, 4 lanes. Memory is in KiB. */
const COST = { memory: 65_536, passes: 3, parallelism: 4, tagLength: 32 };
const SALT_BYTES = 16;
const MAX_PASSPHRASE_BYTES = 65_536;
const NAME = 'master key';

/** Master key, encrypted with a key that argon2id derives from a passphrase. Both parts are base64. */
export const SealedKey = Type.Object({
  salt: Type.String({ pattern: '^[A-Za-z0-9+/]{22}==$' }),
  ciphertext: Type.String({ pattern: '^[A-Za-z0-9+/]{80}$' }),
});
export type SealedKey = Static<typeof SealedKey>;

/** Reads a passphrase from a file, without a line break at its end. @throws OperatorError */
export async function readPassphrase(path: string): Promise<string> {
  const name = `The passphrase file ${path}`;
  const passphrase = (await readTextFile(path, name, MAX_PASSPHRASE_BYTES)).replace(/\r?\n$/, '');
  if (passphrase === '') {
    throw new OperatorError(`${name} is empty. Write the passphrase into it.`);
  }
  return passphrase;
}

export async function sealMasterKey(masterKey: Buffer, passphrase: string): Promise<SealedKey> {
  const salt = randomBytes(SALT_BYTES);
  const ciphertext = encryptBound(await deriveKey(passphrase, salt), masterKey, NAME);
  return { salt: salt.toString('base64'), ciphertext: ciphertext.toString('base64') };
}

/** Decrypts the master key. @throws OperatorError if the passphrase is wrong, or if the encrypted key was changed */
export async function openSealedKey({ salt, ciphertext }: SealedKey, passphrase: string): Promise<Buffer> {
  const key = await deriveKey(passphrase, Buffer.from(salt, 'base64'));
  try {
    return decryptBound(key, Buffer.from(ciphertext, 'base64'), NAME);
  } catch {
    throw new OperatorError(
      'The passphrase does not decrypt the master key of this backup. Use the passphrase with which the backup was made.',
    );
  }
}

async function deriveKey(passphrase: string, salt: Buffer): Promise<Buffer> {
  // A Mac may type the same letters in another Unicode form.
  return await argon2id({ ...COST, message: passphrase.normalize('NFC'), nonce: salt });
}
