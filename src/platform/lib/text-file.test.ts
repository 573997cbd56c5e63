import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { OperatorError } from '../errors.ts';
import { decodeText, readTextFile } from './text-file.ts';

const REPLAY = join(import.meta.dirname, '../../../scripts/replay.ts');
const TEXT = '{ "name": "Chouriço" }\n';
/** The text in encodings that the service refuses. */
const REFUSED: [encoding: string, bytes: Buffer][] = [
  ['Latin-1', Buffer.from(TEXT, 'latin1')],
  ['UTF-16 with a byte order mark', Buffer.from(`\uFEFF${TEXT}`, 'utf16le')],
  ['UTF-16', Buffer.from(TEXT, 'utf16le')],
  ['UTF-16, big-endian', Buffer.from(TEXT, 'utf16le').swap16()],
  ['UTF-16, ASCII only', Buffer.from('secret\n', 'utf16le')],
  ['UTF-8 in which a surrogate is encoded', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['UTF-8, cut short', Buffer.from('Chouriç').subarray(0, -1)],
];

describe('text files', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roomservice-text-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function fileOf(bytes: Buffer | string): Promise<string> {
    const path = join(folder, 'file');
    await writeFile(path, bytes);
    return path;
  }

  it('readTextFile returns the text of a UTF-8 file, and skips one byte order mark at its start', async () => {
    assert.equal(await readTextFile(await fileOf(TEXT)), TEXT);
    assert.equal(await readTextFile(await fileOf(`\uFEFF${TEXT}`)), TEXT);
    assert.equal(await readTextFile(await fileOf(`a\uFEFF${TEXT}`)), `a\uFEFF${TEXT}`);
    assert.equal(await readTextFile(await fileOf('')), '');
  });

  it('readTextFile refuses other encodings with a message that names UTF-8 and the file, and decodeText returns null for them', async () => {
    for (const [encoding, bytes] of REFUSED) {
      assert.equal(decodeText(bytes), null, encoding);
      await assert.rejects(
        readTextFile(await fileOf(bytes)),
        (error) => error instanceof OperatorError && /^\S+file is not UTF-8 text\./.test(error.message),
        encoding,
      );
    }
  });

  it('npm run replay refuses a CSV file that is not UTF-8, before it starts a service', async () => {
    const path = await fileOf(Buffer.from('hotel\nPensão\n', 'latin1'));
    await assert.rejects(promisify(execFile)(process.execPath, [REPLAY, path]), /is not UTF-8 text/);
  });
});
