import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { decryptBound, encryptBound } from './sealing.ts';

const ID_BYTES = 4;

/** Error for a stored secret that cannot be decrypted. The secret was changed or moved to another location, or its key was discarded. */
export class SecretDecryptionError extends Error {}

/** The keys of the service. All of them are derived from the pepper, so they stay the same while the master key is replaced. */
export class Keyring {
  readonly pepper: Buffer;
  readonly token: Buffer;
  readonly #id: number;
  /** With plain bytes in place of a `KeyObject`, a decryption would take three times as long, because Node checks the bytes at each use. */
  readonly #key: KeyObject;

  constructor(pepper: Buffer) {
    const derive = (purpose: string, length: number) => Buffer.from(hkdfSync('sha256', pepper, '', purpose, length));
    this.pepper = pepper;
    this.token = derive('token', 32);
    this.#id = derive('encryption-id', ID_BYTES).readUInt32BE();
    this.#key = createSecretKey(derive('encryption', 32));
  }

  /** Encrypts a secret. It can be decrypted only with the same `boundTo`, the name of the place where it is stored. */
  encrypt(secret: string, boundTo: string): Buffer {
    const id = Buffer.alloc(ID_BYTES);
    id.writeUInt32BE(this.#id);
    return Buffer.concat([id, encryptBound(this.#key, Buffer.from(secret), boundTo)]);
  }

  /** Decrypts a secret. @throws SecretDecryptionError if the ciphertext was changed or moved, or if its key was discarded */
  decrypt(ciphertext: Buffer, boundTo: string): string {
    try {
      if (ciphertext.readUInt32BE() === this.#id) {
        return decryptBound(this.#key, ciphertext.subarray(ID_BYTES), boundTo).toString();
      }
    } catch {
      // A changed ciphertext and a ciphertext of a discarded key have the same remedy.
    }
    throw new SecretDecryptionError(
      `The stored ciphertext of "${boundTo}" cannot be decrypted. Its key was discarded, or it was changed or moved to another row. ` +
        'Replace this secret.',
    );
  }
}
