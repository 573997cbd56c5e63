import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { OperatorError } from '../errors.ts';
import { makeMasterKey, readMasterKey } from './keys.ts';

describe('the master key in DATA_DIR', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'roomservice-key-'));
    path = join(directory, 'master-key');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('makeMasterKey makes a file that only the owner of the file can read, and a second call returns the same key', async () => {
    assert.equal(await readMasterKey(directory), null);
    const key = await makeMasterKey(directory);
    assert.equal(key.length, 32);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(readFileSync(path, 'utf8'), `${key.toString('base64')}\n`);
    assert.deepEqual([await readMasterKey(directory), await makeMasterKey(directory)], [key, key]);
    assert.deepEqual(readdirSync(directory), ['master-key'], 'no draft file remains');
  });

  it('20 concurrent calls of makeMasterKey return the same key', async () => {
    for (let round = 0; round < 5; round += 1) {
      const keys = await Promise.all(Array.from({ length: 20 }, () => makeMasterKey(directory)));
      assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, 1);
      assert.deepEqual(readdirSync(directory), ['master-key']);
      rmSync(path);
    }
  });

  it('readMasterKey refuses and keeps a file without a valid key, and its error shows the path but not the content', async () => {
    for (const content of ['', 'hunter2\n', randomBytes(31).toString('base64'), randomBytes(48).toString('base64')]) {
      writeFileSync(path, content);
      await assert.rejects(
        readMasterKey(directory),
        (error) => error instanceof OperatorError && error.message.includes(path) && !/hunter2/.test(error.message),
      );
      assert.equal(readFileSync(path, 'utf8'), content);
    }
  });
});
