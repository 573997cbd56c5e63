import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readConfig } from './config.ts';
import { OperatorError } from './errors.ts';

const KEY = Buffer.alloc(32, 'a master key');
const KEY_TEXT = KEY.toString('base64');

/** Returns the message of the error that `readConfig` throws for an invalid environment. */
function faultOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    assert.ok(error instanceof OperatorError, String(error));
    return error.message;
  }
  throw new assert.AssertionError({ message: `${JSON.stringify(environment)} was accepted` });
}

describe('variables with the suffix _FILE', () => {
  const directory = mkdtempSync(join(tmpdir(), 'roomservice-config-'));
  after(() => rmSync(directory, { recursive: true }));
  const file = (content: string | Buffer) => {
    const path = join(directory, randomBytes(4).toString('hex'));
    writeFileSync(path, content);
    return path;
  };

  it('a variable with the suffix _FILE gives the path of a file with the secret, and a final line break in the file is ignored', () => {
    const config = readConfig({
      DATABASE_URL_FILE: file('postgres://u:p@h/d\n'),
      REDIS_URL_FILE: file('redis://h\r\n'),
      MASTER_KEY_FILE: file(`${KEY_TEXT}\n`),
      MASTER_KEY_PREVIOUS_FILE: file(KEY_TEXT),
    });
    assert.equal(config.databaseUrl, 'postgres://u:p@h/d');
    assert.equal(config.redisUrl, 'redis://h');
    assert.deepEqual([config.masterKey, config.masterKeyPrevious], [KEY, KEY]);
  });

  it('MASTER_KEY_FILE together with MASTER_KEY is refused', () => {
    assert.match(faultOf({ MASTER_KEY: KEY_TEXT, MASTER_KEY_FILE: file(KEY_TEXT) }), /^MASTER_KEY and MASTER_KEY_FILE/);
  });

  it('a variable with the suffix _FILE is refused if the file is missing, is a folder or is empty', () => {
    for (const path of [join(directory, 'none'), directory, file(''), file('\n')]) {
      for (const variable of ['DATABASE_URL_FILE', 'REDIS_URL_FILE', 'MASTER_KEY_FILE', 'MASTER_KEY_PREVIOUS_FILE']) {
        assert.match(faultOf({ [variable]: path }), new RegExp(`^${variable} must be the path of a`));
      }
    }
  });

  it('a byte order mark in a file of a secret is skipped, and a file that is not UTF-8 is refused', () => {
    assert.equal(readConfig({ REDIS_URL_FILE: file('\uFEFFredis://h\n') }).redisUrl, 'redis://h');
    for (const encoding of ['latin1', 'utf16le'] as const) {
      for (const variable of ['DATABASE_URL_FILE', 'REDIS_URL_FILE', 'MASTER_KEY_FILE']) {
        const fault = faultOf({ [variable]: file(Buffer.from('postgres://u:hunter2ü@h/d', encoding)) });
        assert.match(fault, new RegExp(`^${variable} must be the path of a file of UTF-8 text`));
        assert.ok(!fault.includes('hunter2'));
      }
    }
  });

  it('the message about an invalid secret from a file does not show the content of the file', () => {
    const path = file('hunter2');
    for (const variable of ['DATABASE_URL', 'REDIS_URL', 'MASTER_KEY', 'MASTER_KEY_PREVIOUS']) {
      const fault = faultOf({ [`${variable}_FILE`]: path });
      assert.ok(fault.startsWith(`${variable} must be`) && !fault.includes('hunter2'), fault);
    }
  });
});
