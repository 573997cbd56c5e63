import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import type { Database } from '../db/database.ts';
import { type KeysetList, readKeysetPage } from '../db/keyset-list.ts';
import { invalidField } from '../errors.ts';
import { addDays } from '../lib/dates.ts';
import { isUuid } from '../lib/ids.ts';
import { sendJsonBytes } from './list.ts';
import { pageExample } from './paging.ts';

const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 100;

export const KeysetQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIMIT,
      description: `Maximum number of entries in the response: at most ${MAX_LIMIT}. The default is ${DEFAULT_LIMIT}.`,
      examples: [DEFAULT_LIMIT],
    }),
  ),
  after: Type.Optional(
    Type.String({
      description:
        'The `next` of the previous response. The response continues the list there. Send the same filters and the same order ' +
        'again. Without `after`, the response begins with the first entry.',
      examples: ['b3JkZXJzOm5ld2VzdCAwMWExZmE0NC0xMjE4LTcxYzQtOWUwNS03YTM2ZDhiMWYyNDA'],
    }),
  ),
});
export type KeysetQuery = Type.Static<typeof KeysetQuery>;

export function keysetPageOf<T extends Type.TSchema & { title?: string; examples?: unknown }>(entry: T) {
  return Type.Object(
    {
      results: Type.Array(entry, { description: 'The next entries of the list.' }),
      next: Type.Union([Type.String(), Type.Null()], {
        description:
          'Send this text as `after` to read the entries that follow. Null at the end of the list. A call examines at most 10,000 ' +
          'entries. So if few entries pass the filters, `results` may have fewer than `limit` entries or none, and `next` is not null.',
      }),
    },
    {
      description: 'A part of the list.',
      ...pageExample(entry, (results) => ({ results, next: null })),
    },
  );
}

export interface ListPart<Row> {
  rows: Row[];
  next: string | null;
}

/** Reads the part of a list that the query asks for. @throws ApiError 400 if `after` is not a cursor of this list in this order */
export async function readPart<Row>(db: Database, list: KeysetList<Row>, query: KeysetQuery): Promise<ListPart<Row>> {
  const after = query.after === undefined ? null : readCursor(query.after, list);
  const { rows, next } = await readKeysetPage(db, list, { after, limit: query.limit ?? DEFAULT_LIMIT });
  return { rows, next: next === null ? null : cursorOf([list.name, ...next]) };
}

export function sendPart<Row>(
  reply: FastifyReply,
  { rows, next }: ListPart<Row>,
  render: (row: Row) => unknown,
): never {
  return sendJsonBytes(reply, JSON.stringify({ results: rows.map(render), next }));
}

function cursorOf(parts: string[]): string {
  return Buffer.from(parts.join(' ')).toString('base64url');
}

const CHECKS = {
  uuid: isUuid,
  date: (text: string) => !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text,
};

function readCursor(text: string, { name, key }: KeysetList<unknown>): string[] {
  const [listName, ...values] = Buffer.from(text, 'base64url').toString().split(' ');
  const isKey = key.length === values.length && key.every(({ type }, index) => CHECKS[type](values[index] ?? ''));
  if (listName !== name || !isKey || cursorOf([name, ...values]) !== text) {
    throw invalidField('after', 'must be the `next` of a response of this list in the same order');
  }
  return values;
}
