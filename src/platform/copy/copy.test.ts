import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { sql } from 'kysely';
import { forge, refusal, textOf } from '#test/support/backups.ts';
import { createTestDatabase, rowsOf, type TestDatabase } from '#test/support/database.ts';
import { TABLES } from '../db/tables.ts';
import { newBackup, openBackup } from './backup-file.ts';
import { TRANSIENT_TABLES } from './contents.ts';
import { copyDatabase, type CopySource, countsOf } from './copy.ts';
import { openDatabaseSource } from './database-copy.ts';
import { emptyDatabase } from './database-copy.ts';

const MIB = 1024 * 1024;
const OPTIONS = { version: '1.2.3', sealedKey: null };
const silent = () => {};

let folder: string;
let from: TestDatabase;
/** Backup of `from`, before it has its row of 9 MiB. */
let small: string;
let file: string;
const databases: TestDatabase[] = [];
let files = 0;
const newPath = () => join(folder, `${(files += 1)}.backup`);
const newDatabase = async () => {
  const database = await createTestDatabase();
  databases.push(database);
  return database;
};
const textsOfTenants = [
  '\\N',
  '\\.',
  '\n\\.\n',
  'a\tb\nc\rd\\e',
  'ü😀',
  ...fc.sample(fc.string({ unit: 'grapheme' }), 200),
];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomservice-copy-'));
  from = await newDatabase();
  for (const text of textsOfTenants) {
    await insertTenant(text.replaceAll('\0', ''));
  }
  await sql`INSERT INTO pairing_code (code_hash, tenant_id, display_id, expires_at)
    SELECT ${randomBytes(512)}::bytea || int4send(n), 1, gen_random_uuid(), now() FROM generate_series(1, 300) AS n`.execute(
    from.db,
  );
  await sql`INSERT INTO recent_change (id, tenant_id) SELECT gen_random_uuid(), 1`.execute(from.db);
  small = newPath();
  await backUp(from, small);
  await insertTenant(randomBytes(4.5 * MIB).toString('hex'));
  file = newPath();
  await backUp(from, file);
});
after(async () => {
  await rm(folder, { recursive: true });
  for (const database of databases) {
    await database.drop();
  }
});

async function insertTenant(name: string): Promise<void> {
  await sql`INSERT INTO tenant (slug, name, currency, timezone, features)
    VALUES (${randomUUID()}, ${name}, 'EUR', 'UTC', '{hotel}')`.execute(from.db);
}

async function backUp(
  { url }: TestDatabase,
  path: string,
  change: (source: CopySource) => CopySource = (same) => same,
) {
  const source = await openDatabaseSource(url);
  try {
    return await copyDatabase(change(source), newBackup(path, { ...OPTIONS, createdAt: source.takenAt }), silent);
  } finally {
    await source.close();
  }
}

async function restore(
  { url }: TestDatabase,
  path: string,
  beforeCommit = async () => {},
): Promise<Record<string, number>> {
  const backup = await openBackup(path);
  try {
    return countsOf(await copyDatabase(backup, emptyDatabase(url, beforeCommit), silent));
  } finally {
    backup.close();
  }
}

/** Reads a whole backup file. Its rows go nowhere. */
async function readBackup(path: string): Promise<void> {
  const backup = await openBackup(path);
  try {
    await copyDatabase(
      backup,
      {
        async load(_contents, tables) {
          for await (const { rows } of tables) {
            for await (const piece of rows) {
              assert.ok(piece.length > 0);
            }
          }
        },
      },
      silent,
    );
  } finally {
    backup.close();
  }
}

const isNotEmpty = refusal(/^The database is not empty/);
const isDamaged = refusal(/ is damaged or incomplete: /);
const isNoBackup = refusal(/ is not a backup of roomservice, /);

describe('copy of a database into a backup file and from the file into an empty database', () => {
  it('the copy has the same rows, also rows of 9 MiB or with line breaks, and goes on with the next tenant id', async () => {
    const to = await newDatabase();
    const counts = await restore(to, file);
    assert.deepEqual([counts['tenant'], counts['pairing_code']], [textsOfTenants.length + 1, 300]);
    const tables = Object.keys(counts);
    assert.deepEqual(await rowsOf(to, tables), await rowsOf(from, tables));
    const { rows } = await sql<{ id: number }>`SELECT nextval('tenant_id_seq') AS id`.execute(to.db);
    assert.equal(rows[0]?.id, textsOfTenants.length + 2);
    assert.deepEqual(await rowsOf(to, ['recent_change']), { recent_change: [] });
    await assert.rejects(restore(to, small), isNotEmpty);
  });

  it('the time in a backup is not later than its snapshot, so the backup has all that was written until this time', async () => {
    const database = await newDatabase();
    const path = newPath();
    const source = await openDatabaseSource(database.url);
    const openedMs = Date.now();
    while (Date.now() === openedMs) {
      await setTimeout(1);
    }
    await copyDatabase(source, newBackup(path, { ...OPTIONS, createdAt: source.takenAt }), silent);
    await source.close();
    const backup = await openBackup(path);
    backup.close();
    assert.ok(Date.parse(backup.createdAt) <= openedMs, backup.createdAt);
  });

  it('each table of a migrated database is either copied, or listed as a table whose rows are not copied', async () => {
    const backup = await openBackup(file);
    backup.close();
    const { rows } = await sql<{ name: string }>`SELECT relname AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname NOT LIKE 'kysely%'`.execute(
      from.db,
    );
    const names = [...backup.contents.tables.map(({ name }) => name), ...Object.keys(TRANSIENT_TABLES)];
    assert.deepEqual(names.sort(), rows.map(({ name }) => name).sort());
    assert.deepEqual(names.sort(), Object.keys(TABLES).sort());
  });

  it('a copy that fails before its commit leaves an empty database, and can run again', async () => {
    const to = await newDatabase();
    const stop = async () => {
      throw new Error('stopped');
    };
    await assert.rejects(restore(to, small, stop), /stopped/);
    assert.deepEqual(await rowsOf(to, ['tenant', 'pairing_code']), { tenant: [], pairing_code: [] });
    assert.ok((await restore(to, small))['tenant']);
  });

  it('of two copies at the same time into one database, exactly one is refused', async () => {
    const to = await newDatabase();
    const ends = await Promise.allSettled([restore(to, small), restore(to, small)]);
    const [refused, ...others] = ends.filter((end) => end.status === 'rejected');
    assert.ok(refused && isNotEmpty(refused.reason));
    assert.equal(others.length, 0);
  });

  it('a copy into a database that has a table of another program is refused, even if that table is empty', async () => {
    const to = await newDatabase();
    await sql`CREATE TABLE theirs (id int)`.execute(to.db);
    await assert.rejects(restore(to, small), isNotEmpty);
  });

  it('a backup of a database that a newer version has migrated has all that this version knows, and this version restores it', async () => {
    const newer = await newDatabase();
    await restore(newer, small);
    await sql`INSERT INTO kysely_migration VALUES ('9999_future', '')`.execute(newer.db);
    await sql`CREATE TABLE future (id int)`.execute(newer.db);
    await sql`ALTER TABLE tenant ADD COLUMN future text DEFAULT 'x'`.execute(newer.db);
    const path = newPath();
    const counts = countsOf(await backUp(newer, path));
    assert.deepEqual(await restore(await newDatabase(), path), counts);
  });
});

describe('check of a backup file', () => {
  it('a missing file, a folder, an empty file and a file that is not a backup are refused', async () => {
    await assert.rejects(openBackup(join(folder, 'missing')), refusal(/cannot be read \(ENOENT\)/));
    await assert.rejects(openBackup(folder), refusal(/cannot be read \(EISDIR\)/));
    const path = newPath();
    for (const text of ['', 'hello\n', 'x'.repeat(100_000), '\0'.repeat(10_240)]) {
      await writeFile(path, text);
      await assert.rejects(openBackup(path), isNoBackup);
      await assert.rejects(openBackup(await forge(path, text)), refusal(/is not a backup|a line is too long/));
    }
  });

  it('a backup is refused if it is cut off at any place, has a changed byte, or has bytes after its end', async () => {
    await readBackup(small);
    const [ofSmall, ofLarge] = [await readFile(small), await readFile(file)];
    const inside = ({ length }: Buffer) => Array.from({ length: 8 }, (_, n) => Math.floor((length * n) / 8));
    for (const [original, places] of [
      [ofSmall, [0, 1, 3, 17, 18, 19, ...inside(ofSmall), ...[5, 4, 1].map((left) => ofSmall.length - left)]],
      [ofLarge, [Math.floor(ofLarge.length / 2), ofLarge.length - 1]],
    ] as const) {
      const { length } = original;
      const path = newPath();
      for (const place of places) {
        await writeFile(path, original.subarray(0, place));
        await assert.rejects(readBackup(path), refusal(/damaged/), `${place} of ${length} bytes`);
        const copy = Buffer.from(original);
        copy.writeUInt8(copy.readUInt8(place) ^ 0xff, place);
        await writeFile(path, copy);
        await assert.rejects(readBackup(path), refusal(/damaged/), `byte ${place} of ${length}`);
      }
      for (const more of [Buffer.from('x'), original]) {
        await writeFile(path, original);
        await appendFile(path, more);
        await assert.rejects(readBackup(path), isDamaged, `${more.length} bytes more`);
      }
    }
  });

  it('a backup with a correct checksum is refused if rows, tables or digests are missing, changed or in another place', async () => {
    const text = await textOf(small);
    const [table] = /^COPY pairing_code [^]*?^\\\.\n/m.exec(text) ?? [];
    assert.ok(table);
    const [row = ''] = /^\\\\x.*\n/m.exec(table) ?? [];
    const path = newPath();
    const lines = text.split('\n');
    for (const [what, forged] of Object.entries({
      'a missing row': text.replace(row, ''),
      'a row twice': text.replace(row, () => row + row),
      'a changed row': text.replace(row, () => row.replace('\\x', '\\x00')),
      'a missing table': text.replace(table, ''),
      'a table twice': text.replace(table, () => table + table),
      'missing digests': lines.slice(0, -2).join('\n'),
      'more text': `${text}more\n`,
      'an unknown table': text.replaceAll(/(?<="name":"|^COPY |")pairing_code(?="| )/gm, 'pg_authid'),
    })) {
      assert.notEqual(forged, text);
      await assert.rejects(readBackup(await forge(path, forged)), refusal(/damaged/), what);
    }
    await readBackup(await forge(path, text));
    const invalid = await forge(path, text.replace('{hotel}', '{hotel'));
    await assert.rejects(restore(await newDatabase(), invalid), isDamaged);
  });

  it('a backup of a newer format or with a newer migration is refused, and the error says to install that version', async () => {
    const header = JSON.stringify({ format: 3, version: '9.8.7' });
    const path = await forge(newPath(), `-- roomservice backup ${header}\n`);
    await assert.rejects(openBackup(path), refusal(/newer version of roomservice \(9\.8\.7\)/));
    const text = (await textOf(small)).replace('"migrations":[', '"migrations":["9999_future",');
    await assert.rejects(openBackup(await forge(path, text)), refusal(/newer version of roomservice \(9999_future\)/));
  });
});

describe('writing of a backup file', () => {
  it('the file has mode 0600; a file, folder or link at its path is never replaced, also if it appears during the backup', async () => {
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const own = await mkdtemp(join(folder, 'existing-'));
    const path = join(own, 'kept');
    const late = (source: CopySource): CopySource => ({
      ...source,
      async *read(table) {
        yield* source.read(table);
        await writeFile(path, 'kept');
      },
    });
    const exists = refusal(/already exists, and a backup never replaces a file/);
    await assert.rejects(backUp(from, path, late), exists);
    await assert.rejects(backUp(from, path), exists);
    assert.equal(await readFile(path, 'utf8'), 'kept');
    await symlink(join(own, 'missing'), join(own, 'dangling'));
    await assert.rejects(backUp(from, join(own, 'dangling')), exists);
    await assert.rejects(backUp(from, own), exists);
    await assert.rejects(backUp(from, join(own, 'no-folder', 'x')), refusal(/cannot be written \(ENOENT\)/));
    await assert.rejects(backUp(from, join(path, 'x')), refusal(/cannot be written \(ENOTDIR\)/));
    assert.deepEqual((await readdir(own)).sort(), ['dangling', 'kept']);
  });

  it('if the rows of a table cannot be read to their end, the backup fails and leaves no file', async () => {
    const own = await mkdtemp(join(folder, 'failed-'));
    const cut = (source: CopySource): CopySource => ({
      ...source,
      async *read() {
        yield Buffer.from('1\n2');
      },
    });
    await assert.rejects(backUp(from, join(own, 'x'), cut), /in the middle of a row/);
    const failing = (source: CopySource): CopySource => ({
      ...source,
      read: async function* () {
        yield Buffer.alloc(9 * MIB, `${'x'.repeat(999)}\n`);
        throw new Error('connection lost');
      },
    });
    await assert.rejects(backUp(from, join(own, 'x'), failing), /connection lost/);
    assert.deepEqual(await readdir(own), []);
  });
});
