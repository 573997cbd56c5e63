import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { decryptBound, encryptBound } from './sealing.ts';

/** Length in bytes of the key id with which each ciphertext begins. The id is a big-endian number. */
const ID_BYTES = 4;

/** Error for a stored secret that cannot be decrypted. The secret was changed or moved to another location, or its key was discarded. */
export class SecretDecryptionError extends Error {}

/** The keys of the service. All of them are derived from the pepper, so they stay the same while the master key is replaced. */
export class Keyring {
  /** Key from which the keys for hashes are derived, for example those of API secrets. */
  readonly pepper: Buffer;
  /** Key that signs the access tokens of users. */
  readonly token: Buffer;
  /** Id of the key that encrypts secrets. */
  readonly #id: number;
  /**
   * Keys that decrypt secrets, by id. Each key is a `KeyObject`. With plain bytes, a decryption would take three times as long, because
   * Node would check the bytes at each use.
   */
  readonly #keys: Map<number, KeyObject>;

  /** @param older keys by id that decrypt secrets of a database from before the encryption key was derived. */
  constructor(pepper: Buffer, older: ReadonlyMap<number, Buffer> = new Map()) {
    const derive = (purpose: string, length: number) => Buffer.from(hkdfSync('sha256', pepper, '', purpose, length));
    this.pepper = pepper;
    this.token = derive('token', 32);
    this.#id = derive('encryption-id', ID_BYTES).readUInt32BE();
    this.#keys = new Map([...older].map(([id, key]) => [id, createSecretKey(key)]));
    this.#keys.set(this.#id, createSecretKey(derive('encryption', 32)));
  }

  /**
   * Encrypts a secret.
   * @param boundTo name of the place where the secret is stored. The ciphertext can be decrypted only with the same name.
   */
  encrypt(secret: string, boundTo: string): Buffer {
    const id = Buffer.alloc(ID_BYTES);
    id.writeUInt32BE(this.#id);
    return Buffer.concat([id, encryptBound(this.#keys.get(this.#id) as KeyObject, Buffer.from(secret), boundTo)]);
  }

  /** Decrypts a secret. @throws SecretDecryptionError if the ciphertext was changed or moved, or if its key was discarded */
  decrypt(ciphertext: Buffer, boundTo: string): string {
    const id = ciphertext.length < ID_BYTES ? 0 : ciphertext.readUInt32BE();
    const key = this.#keys.get(id);
    if (key === undefined) {
      throw new SecretDecryptionError(
        `The stored ciphertext of "${boundTo}" needs encryption key ${id}, which was discarded, or was changed. Replace this secret.`,
      );
    }
    try {
      return decryptBound(key, ciphertext.subarray(ID_BYTES), boundTo).toString();
    } catch {
      throw new SecretDecryptionError(
        `Encryption key ${id} cannot decrypt the stored ciphertext of "${boundTo}". ` +
          'The ciphertext was changed or moved to another row. Replace this secret.',
      );
    }
  }
}
