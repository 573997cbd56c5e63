import { isBelow, nameOf, placeOf, type Drawing } from './drawing.ts';
import { offence } from './source.ts';
import type { SourceFile } from './source.ts';

const WRITE =
  /\.(?:insertInto|updateTable|deleteFrom)\(\s*'(?<built>\w+)|\b(?:INSERT INTO|MERGE INTO|DELETE FROM|UPDATE(?= \w+(?: (?:AS )?\w+)?\s+SET\b)) (?!SET\b)"?(?<written>\w+)/g;
const READ = /\.(?:selectFrom|\w*[jJ]oin|using)\(\s*'(?<built>\w+)|\b(?:FROM|JOIN|USING)\s+"?(?<written>\w+)/g;
/**
 * Tables that more than one module may write. `webhooks/events` writes and removes an event and its delivery in one statement, and
 * `webhooks/deliveries` changes the state of the delivery.
 */
const SHARED: Record<string, string[]> = { delivery: ['webhooks/events', 'webhooks/deliveries'] };

interface Mention {
  file: SourceFile;
  index: number;
  table: string;
  room: string;
}

/**
 * Finds tables that more than one module writes. The first module in the order of `files` that writes a table counts as the owner of the
 * table. The offences are in the files of the other modules that write it.
 */
export function tablesWithTwoWriters(files: SourceFile[]): string[] {
  const owners = new Map<string, string>();
  return mentionsOf(files, WRITE).flatMap(({ file, index, table, room }) => {
    const owner = owners.get(table) ?? room;
    owners.set(table, owner);
    if (owner === room || SHARED[table]?.includes(room)) return [];
    return [
      offence(file.path, file.text, index, `Only one room may write a table, and ${owner}/ already writes "${table}".`),
    ];
  });
}

/**
 * Finds modules that read a table which they may not read. A module may read its own tables, and the tables of every module below it in the
 * diagram of docs/ARCHITECTURE.md.
 */
export function tablesReadFromAbove(files: SourceFile[], drawing: Drawing): string[] {
  const owners = new Map(mentionsOf(files, WRITE).map(({ table, file }) => [table, placeOf(file.path)]));
  return mentionsOf(files, READ).flatMap(({ file, index, table, room }) => {
    const [owner, reader] = [owners.get(table), placeOf(file.path)];
    if (owner === undefined || nameOf(owner) === room || SHARED[table]?.includes(room)) return [];
    if (isBelow(drawing, owner, reader)) return [];
    return [
      offence(
        file.path,
        file.text,
        index,
        `${room}/ must not read "${table}", because ${nameOf(owner)}/ owns this table and is not below.`,
      ),
    ];
  });
}

function mentionsOf(files: SourceFile[], pattern: RegExp): Mention[] {
  return files.flatMap((file) =>
    [...file.uncommented.matchAll(pattern)].map(({ index, groups }) => {
      const table = groups?.['built'] ?? groups?.['written'] ?? '';
      return { file, index, table, room: nameOf(placeOf(file.path)) };
    }),
  );
}
