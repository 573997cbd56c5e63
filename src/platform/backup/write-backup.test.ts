import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it, mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { zstdDecompressSync } from 'node:zlib';
import { entriesOf, OPTIONS, refusal, smallRows, sourceOf } from '#test/support/backups.ts';
import { sealMasterKey } from './passphrase.ts';
import { readBackup } from './read-backup.ts';
import { writeBackup } from './write-backup.ts';

const MIB = 1024 * 1024;
const run = promisify(execFile);

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomservice-backup-'));
});
after(() => rm(folder, { recursive: true }));

let files = 0;
const newPath = () => join(folder, `${(files += 1)}.backup`);

describe('writeBackup', () => {
  it('writes a tar file of mode 0600 that the program tar can list, and returns its size and the row counts', async () => {
    const path = newPath();
    const sealedKey = await sealMasterKey(randomBytes(32), 'p');
    const progress: [string, number][] = [];
    const onTable = (table: string, rows: number) => progress.push([table, rows]);
    const { counts, bytes } = await writeBackup(path, sourceOf(smallRows()), { ...OPTIONS, sealedKey, onTable });
    assert.deepEqual(counts, { one: 2, empty: 0, two: (5 * MIB) / 64 + 1 });
    assert.deepEqual(progress, [
      ['one', 2],
      ['two', (5 * MIB) / 64],
      ['two', (5 * MIB) / 64 + 1],
    ]);
    const { size, mode } = await stat(path);
    assert.equal(size, bytes);
    assert.equal(mode & 0o777, 0o600);
    const names = ['header.json', 'master-key.json', 'tables/one/000001.copy.zst', 'tables/two/000001.copy.zst'];
    names.push('tables/two/000002.copy.zst', 'manifest.json');
    const listed = await run('tar', ['tf', path]).then(({ stdout }) => stdout.trim().split('\n'));
    assert.deepEqual(listed, names);
    const backup = await readBackup(path);
    assert.equal(backup.version, '1.2.3');
    assert.equal(backup.serverVersion, '18.4');
    assert.deepEqual(backup.sealedKey, sealedKey);
    assert.ok(Math.abs(Date.parse(backup.createdAt) - Date.now()) < 60_000);
    assert.equal((await buffer(backup.open('one'))).toString(), '1\n23\n');
    assert.equal((await buffer(backup.open('empty'))).length, 0);
    assert.equal((await buffer(backup.open('two'))).length, 5 * MIB + 5);
  });

  it('never splits a row over two chunks, and a chunk is larger than 4 MiB only if one of its rows is larger', async () => {
    const long = Buffer.concat([Buffer.alloc(10 * MIB, 'x'), Buffer.from('\n')]);
    const text = Buffer.concat([Buffer.alloc(3 * MIB, 'before\n'), Buffer.from('\n'), long, Buffer.alloc(MIB, 'yy\n')]);
    const whole = text.subarray(0, text.lastIndexOf('\n') + 1);
    const parts = Array.from({ length: Math.ceil(whole.length / 65_536) }, (_, n) =>
      whole.subarray(n * 65_536, (n + 1) * 65_536),
    );
    const path = newPath();
    await writeBackup(path, sourceOf({ rows: parts }), OPTIONS);
    const chunks = (await entriesOf(path)).filter(({ name }) => name.startsWith('tables/'));
    const texts = chunks.map(({ bytes }) => zstdDecompressSync(bytes));
    assert.deepEqual(Buffer.concat(texts), whole);
    assert.ok(texts.every((chunk) => chunk.at(-1) === 10));
    const [first, second, ...others] = texts.map(({ length }) => length);
    assert.ok(first !== undefined && first <= 4 * MIB && second !== undefined && second - long.length < 65_536);
    assert.ok(others.every((length) => length <= 4 * MIB));
    assert.deepEqual(await buffer((await readBackup(path)).open('rows')), whole);
  });

  it('if the target file already exists, or appears during the backup, writeBackup does not replace the file, and leaves no draft (incomplete backup file)', async () => {
    const own = await mkdtemp(join(folder, 'existing-'));
    const path = join(own, 'kept');
    const late = async function* () {
      yield Buffer.from('1\n');
      await writeFile(path, 'kept');
    };
    const exists = refusal(/already exists/);
    await assert.rejects(writeBackup(path, sourceOf({ late: late() }), OPTIONS), exists);
    await assert.rejects(writeBackup(path, sourceOf({}), OPTIONS), exists);
    assert.equal(await readFile(path, 'utf8'), 'kept');
    await symlink(join(own, 'missing'), join(own, 'dangling'));
    await assert.rejects(writeBackup(join(own, 'dangling'), sourceOf({}), OPTIONS), exists);
    await assert.rejects(writeBackup(own, sourceOf({}), OPTIONS), exists);
    await assert.rejects(writeBackup(join(own, 'no-folder', 'x'), sourceOf({}), OPTIONS), refusal(/ENOENT/));
    await assert.rejects(writeBackup(join(path, 'x'), sourceOf({}), OPTIONS), refusal(/ENOTDIR/));
    assert.deepEqual((await readdir(own)).sort(), ['dangling', 'kept']);
  });

  it('an aborted backup leaves no file and no draft, even if its source waits for ever', async () => {
    const own = await mkdtemp(join(folder, 'aborted-'));
    const interruption = new AbortController();
    const stuck = async function* () {
      yield Buffer.alloc(5 * MIB, 'x\n');
      assert.equal((await readdir(own)).length, 1, 'there is a draft');
      setImmediate(() => interruption.abort(new Error('interrupted')));
      await once(new EventTarget(), 'never');
    };
    const options = { ...OPTIONS, signal: interruption.signal };
    await assert.rejects(writeBackup(join(own, 'x'), sourceOf({ stuck: stuck() }), options), /^Error: interrupted$/);
    await assert.rejects(writeBackup(join(own, 'x'), sourceOf({}), options), /^Error: interrupted$/);
    assert.deepEqual(await readdir(own), []);
  });

  it('if reading the rows of a table fails, or the data ends in the middle of a row, writeBackup fails and leaves no file and no draft', async () => {
    const own = await mkdtemp(join(folder, 'failed-'));
    const failing = async function* () {
      yield Buffer.alloc(9 * MIB, 'x\n');
      throw new Error('connection lost');
    };
    await assert.rejects(writeBackup(join(own, 'x'), sourceOf({ failing: failing() }), OPTIONS), /connection lost/);
    const cut = sourceOf({ cut: [Buffer.from('1\n2')] });
    await assert.rejects(writeBackup(join(own, 'x'), cut, OPTIONS), /in the middle of a row/);
    assert.deepEqual(await readdir(own), []);
  });
});

/**
 * While `work` runs, each call of `writeFile` of a file handle calls `write` instead. The argument of `write` is a function that does the
 * original call.
 */
async function withWrites(write: (original: () => Promise<unknown>) => Promise<unknown>, work: () => Promise<void>) {
  const handle = await open(newPath(), 'w');
  const prototype = Object.getPrototypeOf(handle) as { writeFile: (...values: unknown[]) => Promise<unknown> };
  await handle.close();
  const original = prototype.writeFile;
  const writes = mock.method(prototype, 'writeFile', function (this: unknown, ...values: unknown[]) {
    return write(() => original.apply(this, values));
  });
  try {
    await work();
    assert.ok(writes.mock.callCount() > 0);
  } finally {
    writes.mock.restore();
  }
}

/**
 * Duration of a write to the slow disk in ms. A chunk takes three writes, so writing a chunk takes longer than reading and compressing it.
 */
const SLOW_WRITE_MS = 30;

describe('writeBackup on a bad disk', () => {
  it('if writes to the disk are slow, writeBackup has at most 16 MiB of rows that it has read but not yet written to the disk', async () => {
    const own = await mkdtemp(join(folder, 'slow-'));
    let pulled = 0;
    let mostAhead = 0;
    const seen = async () => {
      const [draft] = await readdir(own);
      return draft === undefined ? 0 : (await stat(join(own, draft))).size;
    };
    const endless = async function* () {
      while (pulled < 200 * MIB) {
        // The bytes are random, so that Zstandard cannot make them shorter. They may contain line feeds, so they may be several rows, but
        // the test works with any number of rows.
        const row = Buffer.concat([randomBytes(MIB), Buffer.from('\n')]);
        pulled += row.length;
        mostAhead = Math.max(mostAhead, pulled - (await seen()));
        yield row;
      }
    };
    const slowly = async (original: () => Promise<unknown>) => {
      await sleep(SLOW_WRITE_MS);
      return await original();
    };
    await withWrites(slowly, async () => {
      const { bytes } = await writeBackup(join(own, 'x'), sourceOf({ endless: endless() }), OPTIONS);
      assert.ok(bytes > 199 * MIB, `${bytes} bytes written`);
    });
    assert.ok(mostAhead <= 16 * MIB, `${mostAhead} bytes ahead`);
  });

  it('if the disk is full, the error names the lack of space, and the backup leaves no file and no draft', async () => {
    const own = await mkdtemp(join(folder, 'full-'));
    let writes = 0;
    const full = async (original: () => Promise<unknown>) => {
      writes += 1;
      if (writes > 3) {
        throw Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' });
      }
      return await original();
    };
    const rows = sourceOf({ rows: Array.from({ length: 40 }, () => Buffer.alloc(MIB, 'x\n')) });
    await withWrites(full, () =>
      assert.rejects(writeBackup(join(own, 'x'), rows, OPTIONS), refusal(/not enough space.*ENOSPC/)),
    );
    assert.deepEqual(await readdir(own), []);
  });
});
