import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { OperatorError } from '../errors.ts';
import { compileSchema } from '../lib/validation.ts';
import { openSealedKey, readPassphrase, SealedKey, sealMasterKey } from './passphrase.ts';

const refusal = (text: RegExp) => (error: unknown) => error instanceof OperatorError && text.test(error.message);

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomservice-passphrase-'));
});
after(() => rm(folder, { recursive: true }));

async function passphraseIn(content: string | Buffer): Promise<string> {
  const path = join(folder, 'passphrase');
  await writeFile(path, content);
  return await readPassphrase(path);
}

describe('passphrase file', () => {
  it('a byte order mark and one line break at the end of the file are not part of the passphrase, but spaces and other line breaks are', async () => {
    assert.equal(await passphraseIn('secret'), 'secret');
    assert.equal(await passphraseIn('secret\n'), 'secret');
    assert.equal(await passphraseIn('secret\r\n'), 'secret');
    assert.equal(await passphraseIn('\uFEFFsecret\r\n'), 'secret');
    assert.equal(await passphraseIn(' a\nü \n\n'), ' a\nü \n');
  });

  it('a passphrase file that is empty, missing, a folder, endless or not UTF-8 is refused', async () => {
    await assert.rejects(passphraseIn(''), refusal(/is empty/));
    await assert.rejects(passphraseIn('\r\n'), refusal(/is empty/));
    await assert.rejects(readPassphrase(join(folder, 'missing')), refusal(/ENOENT/));
    await assert.rejects(readPassphrase(folder), refusal(/EISDIR/));
    await assert.rejects(readPassphrase('/dev/zero'), refusal(/longer than/));
    await assert.rejects(passphraseIn(Buffer.from('sécret', 'latin1')), refusal(/not UTF-8/));
    await assert.rejects(passphraseIn(Buffer.from('secret', 'utf16le')), refusal(/not UTF-8/));
  });
});

describe('master key encrypted with a passphrase', () => {
  it('the encrypted master key can be decrypted only with its passphrase, also after it was stored as JSON', async () => {
    const masterKey = randomBytes(32);
    const sealed = JSON.parse(JSON.stringify(await sealMasterKey(masterKey, 'ü secret'))) as SealedKey;
    assert.deepEqual(await openSealedKey(sealed, 'ü secret'), masterKey);
    await assert.rejects(openSealedKey(sealed, 'ü secret '), refusal(/passphrase does not decrypt/));
    assert.ok(!JSON.stringify(sealed).includes(masterKey.toString('base64')));
  });

  it('a passphrase in decomposed letters decrypts what its composed form has encrypted, and the other way round', async () => {
    const masterKey = randomBytes(32);
    const [composed, decomposed] = ['São Tomé', 'São Tomé'.normalize('NFD')];
    const sealed = await sealMasterKey(masterKey, decomposed);
    assert.deepEqual(await openSealedKey(await sealMasterKey(masterKey, composed), decomposed), masterKey);
    assert.deepEqual(await openSealedKey(sealed, composed), masterKey);
    await assert.rejects(openSealedKey(sealed, 'Sao Tome'), refusal(/passphrase does not decrypt/));
  });

  it('two encryptions of one master key differ in each part, and a key with a part of the other one or without a part is refused', async () => {
    const masterKey = randomBytes(32);
    const [sealed, other] = [await sealMasterKey(masterKey, 'p'), await sealMasterKey(masterKey, 'p')];
    assert.ok(sealed.salt !== other.salt && sealed.ciphertext !== other.ciphertext);
    const validator = compileSchema(SealedKey);
    assert.ok(validator.isValid(sealed));
    for (const part of ['salt', 'ciphertext'] as const) {
      await assert.rejects(openSealedKey({ ...sealed, [part]: other[part] }, 'p'), refusal(/does not decrypt/), part);
      assert.ok(!validator.isValid({ ...sealed, [part]: '' }), part);
    }
  });
});
