import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Keyring } from '#platform/keys/keys.ts';
import type { ClaimedDelivery } from './outcomes.ts';
import { createDecrypter } from './secrets.ts';

const deliveryOf = (credentialId: string) =>
  ({ tenantId: 1, credentialId, webhookSecret: Buffer.from(`secret of ${credentialId}`) }) as ClaimedDelivery;

describe('createDecrypter', () => {
  it('the secret of a credential is decrypted once for all its deliveries, and each credential has its own secret', () => {
    const places: string[] = [];
    const keyring = {
      decrypt: (ciphertext: Buffer, boundTo: string) => {
        places.push(boundTo);
        return ciphertext.toString();
      },
    } as Keyring;
    const secretOf = createDecrypter(keyring);
    const found = ['a', 'b', 'a', 'b', 'a'].map((id) => secretOf(deliveryOf(id)));
    assert.deepEqual(found, ['secret of a', 'secret of b', 'secret of a', 'secret of b', 'secret of a']);
    assert.equal(places.length, 2);
    assert.equal(new Set(places).size, 2);
  });

  it('if the secret of a credential cannot be decrypted, the error is thrown for each delivery of the credential', () => {
    const decrypt = () => {
      throw new Error('wrong key');
    };
    const keyring = { decrypt } as unknown as Keyring;
    const secretOf = createDecrypter(keyring);
    for (const delivery of [deliveryOf('a'), deliveryOf('a')]) {
      assert.throws(() => secretOf(delivery), /cannot be decrypted/);
    }
  });
});
