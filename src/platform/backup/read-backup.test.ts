import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { link, mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { entriesOf, OPTIONS, refusal, sourceOf, type TarEntry, writeSmall, writeTar } from '#test/support/backups.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { noCopies } from '#test/support/test-cluster.ts';
import { openSource } from '../db/transfer-source.ts';
import { loadDatabase } from '../db/transfer-target.ts';
import { readBackup } from './read-backup.ts';
import { writeBackup } from './write-backup.ts';

const MIB = 1024 * 1024;

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomservice-backup-'));
});
after(() => rm(folder, { recursive: true }));

let files = 0;
const newPath = () => join(folder, `${(files += 1)}.backup`);

const tarOf = (...entries: Pick<TarEntry, 'name' | 'bytes'>[]) => writeTar(newPath(), entries);

const isDamaged = refusal(/ is damaged or incomplete: /);
const isNoBackup = refusal(/ is not a backup of roomservice/);

describe('round trip of a backup', { skip: noCopies }, () => {
  const databases: TestDatabase[] = [];
  const newDatabase = async () => {
    const database = await createTestDatabase();
    databases.push(database);
    return database;
  };
  after(async () => {
    for (const database of databases) {
      await database.drop();
    }
  });

  it('a database that is restored from a backup has the same rows, also rows with line breaks, binary values or 9 MiB', async () => {
    const [from, to] = [await newDatabase(), await newDatabase()];
    const names = ['\\N', 'a\tb\nc\rd\\e', 'ü😀', randomBytes(4.5 * MIB).toString('hex')];
    for (const [index, name] of names.entries()) {
      await sql`INSERT INTO tenant (slug, name, currency, timezone, features)
        VALUES (${`slug-${index}`}, ${name}, 'EUR', 'UTC', '{hotel}')`.execute(from.db);
    }
    await sql`INSERT INTO service_key (purpose, version, wrapped_key)
      SELECT 'encryption', n, decode(repeat(lpad(to_hex(n % 256), 2, '0'), 64), 'hex') FROM generate_series(1, 300) AS n`.execute(
      from.db,
    );
    const path = newPath();
    const source = await openSource(from.url);
    const written = await writeBackup(path, source, OPTIONS);
    await source.close();
    const backup = await readBackup(path);
    assert.deepEqual(backup.contents, source.contents);
    assert.deepEqual(backup.counts, written.counts);
    assert.equal(backup.counts['tenant'], names.length);
    assert.equal(backup.counts['service_key'], 300);
    const counts = await loadDatabase(to.url, { contents: backup.contents, open: ({ name }) => backup.open(name) });
    assert.deepEqual(counts, backup.counts);
    for (const table of Object.keys(counts)) {
      const rows = sql`SELECT t::text AS row FROM ${sql.ref(table)} AS t ORDER BY 1`;
      assert.deepEqual((await rows.execute(to.db)).rows, (await rows.execute(from.db)).rows, table);
    }
  });
});

describe('readBackup', () => {
  it('readBackup refuses a missing file, a folder, an empty file, a text file, and a tar file that is not a backup', async () => {
    await assert.rejects(readBackup(join(folder, 'missing')), refusal(/cannot be read \(ENOENT\)/));
    await assert.rejects(readBackup(folder), refusal(/cannot be read \(EISDIR\)/));
    const path = newPath();
    for (const text of ['', 'hello\n', 'x'.repeat(100_000), '\0'.repeat(10_240)]) {
      await writeFile(path, text);
      await assert.rejects(readBackup(path), isNoBackup);
    }
    await assert.rejects(readBackup(await tarOf({ name: 'photo.jpg', bytes: randomBytes(10) })), isNoBackup);
  });

  it('refuses a backup that is cut off at any place', async () => {
    const path = await writeSmall(newPath());
    const { size } = await stat(path);
    const ends = (await entriesOf(path)).flatMap(({ offset, bytes }) => [offset - 512, offset, offset + bytes.length]);
    const last = [1, 511, 512, 513, 1023, 1024, 1025].map((missing) => size - missing);
    const steps = Array.from({ length: 40 }, (_, n) => Math.floor((size * n) / 40));
    const cut = newPath();
    for (const length of [...ends, ...last, ...steps]) {
      await writeFile(cut, (await readFile(path)).subarray(0, length));
      await assert.rejects(readBackup(cut), length > 1024 ? isDamaged : refusal(/./), `${length} of ${size} bytes`);
    }
  });

  it('refuses a backup with a changed byte in any entry', async () => {
    const path = await writeSmall(newPath());
    const original = await readFile(path);
    const changed = newPath();
    for (const { name, offset, bytes } of await entriesOf(path)) {
      const places = [-512, -400, -380, 0, 1, bytes.length >> 1, bytes.length - 2].map((place) => offset + place);
      for (const place of places) {
        const copy = Buffer.from(original);
        copy.writeUInt8(copy.readUInt8(place) ^ 1, place);
        await writeFile(changed, copy);
        await assert.rejects(readBackup(changed), refusal(/damaged|not a backup/), `${name} at ${place - offset}`);
      }
    }
  });

  it('refuses a backup whose entries are missing, are there twice, or are in another order', async () => {
    const entries = await entriesOf(await writeSmall(newPath()));
    for (let index = 1; index < entries.length; index += 1) {
      const [entry] = entries.slice(index, index + 1);
      assert.ok(entry);
      await assert.rejects(readBackup(await tarOf(...entries.toSpliced(index, 1))), isDamaged, `no ${entry.name}`);
      await assert.rejects(readBackup(await tarOf(...entries.toSpliced(index, 0, entry))), isDamaged, entry.name);
      const moved = entries.toSpliced(index, 1).toSpliced(1, 0, entry);
      if (index > 1) {
        await assert.rejects(readBackup(await tarOf(...moved)), isDamaged, `${entry.name} moved`);
      }
    }
    assert.equal((await readBackup(await tarOf(...entries))).counts['one'], 2, 'the unchanged entries are a backup');
  });

  /** Writes a backup in which the entry `name` has the given bytes, and the manifest has the correct hash of these bytes. */
  async function forge(name: string, bytes: Buffer, rows: Record<string, number> = {}): Promise<string> {
    const path = newPath();
    await writeBackup(path, sourceOf({ one: [Buffer.from('1\n')] }), OPTIONS);
    const entries = (await entriesOf(path))
      .slice(0, -1)
      .map((entry) => (entry.name === name ? { ...entry, bytes } : entry));
    const listed = entries.map((entry) => ({ name: entry.name, sha256: hash('sha256', entry.bytes) }));
    const manifest = { rows: { one: 1, ...rows }, entries: listed };
    return await tarOf(...entries, { name: 'manifest.json', bytes: Buffer.from(JSON.stringify(manifest)) });
  }
  const CHUNK = 'tables/one/000001.copy.zst';

  it('refuses an entry with table rows that ends inside a row, has a wrong number of rows, or decompresses to too many bytes', async () => {
    const forged = (text: Buffer, rows?: Record<string, number>) => forge(CHUNK, zstdCompressSync(text), rows);
    assert.equal((await readBackup(await forged(Buffer.from('1\n')))).counts['one'], 1, 'the forged hashes are right');
    await assert.rejects(readBackup(await forged(Buffer.from('1\n2'))), refusal(/does not end with a whole row/));
    await assert.rejects(readBackup(await forged(Buffer.from('1\n2\n'))), refusal(/numbers of rows/));
    await assert.rejects(readBackup(await forged(Buffer.from('1\n'), { other: 0 })), refusal(/numbers of rows/));
    const bomb = await forged(Buffer.alloc(257 * MIB, '1\n'));
    assert.ok((await stat(bomb)).size < MIB);
    await assert.rejects(readBackup(bomb), refusal(/cannot be decompressed/));
  });

  it('refuses a backup that has an entry with an unexpected name, a folder, or a header that is too large', async () => {
    const [header, ...others] = await entriesOf(await writeSmall(newPath()));
    assert.ok(header);
    for (const name of ['notes.txt', '../x', 'tables/../000001.copy.zst', 'constructor']) {
      const path = await tarOf(header, { name, bytes: zstdCompressSync('1\n') }, ...others);
      await assert.rejects(readBackup(path), refusal(/does not belong in a backup/), name);
    }
    const other = { name: 'tables/other/000001.copy.zst', bytes: zstdCompressSync('1\n') };
    await assert.rejects(readBackup(await tarOf(header, other, ...others)), refusal(/wrong place/));
    await assert.rejects(readBackup(await tarOf(header, { name: 'tables/', bytes: Buffer.alloc(0) })), isDamaged);
    const large = { name: 'header.json', bytes: Buffer.alloc(2 * MIB, ' ') };
    await assert.rejects(readBackup(await tarOf(large)), refusal(/too large/));
  });

  it('refuses a backup of a newer format, and names the version that made it', async () => {
    const header = Buffer.from(JSON.stringify({ format: 2, version: '9.8.7' }));
    await assert.rejects(
      readBackup(await tarOf({ name: 'header.json', bytes: header }, { name: 'new', bytes: header })),
      refusal(/newer version of roomservice \(9\.8\.7\)/),
    );
  });

  it('if the file of a backup changes after the check, reading its rows fails', async () => {
    const path = await writeSmall(newPath());
    const backup = await readBackup(path);
    const entries = await entriesOf(path);
    const [chunk] = entries.filter(({ name }) => name === 'tables/two/000002.copy.zst');
    assert.ok(chunk);
    const copy = newPath();
    await link(path, copy);
    const file = await open(copy, 'r+');
    await file.write(Buffer.from([chunk.bytes.readUInt8(5) ^ 1]), 0, 1, chunk.offset + 5);
    await file.close();
    await assert.rejects(buffer(backup.open('two')), refusal(/000002\.copy\.zst has changed/));
    assert.equal((await buffer(backup.open('one'))).length, 5);
    await truncate(path, chunk.offset + 3);
    await assert.rejects(buffer(backup.open('two')), refusal(/has changed/));
    await rm(path);
    await assert.rejects(buffer(backup.open('one')), refusal(/cannot be read \(ENOENT\)/));
  });
});
