import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { Staff } from '#access/tenants/tenants.ts';
import { newId } from '#platform/lib/ids.ts';
import type { LookRow } from '#staff/live-changes/store.ts';

export const CHANGES = '/v1/staff/changes/';

/** Block of a stream of events. A field that the block does not have is missing. */
export interface StreamBlock {
  /** Text of a comment, without the colon. */
  comment?: string;
  id?: string;
  event?: string;
  retry?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read data of every shape
  data?: any;
  /** Time of the arrival in milliseconds of `performance.now()`. */
  atMs: number;
}

/** An open stream of events. */
export interface TestStream {
  response: Response;
  /** Blocks that have arrived so far. */
  blocks: StreamBlock[];
  /** Last id that has arrived, as a browser remembers it. */
  lastId(): string | undefined;
  /**
   * Returns the first block that fits, which may have arrived already.
   * @throws if the stream ends first, or if no such block arrives within `withinMs`
   */
  find(fits: (block: StreamBlock) => boolean, withinMs?: number): Promise<StreamBlock>;
  /** Resolves with the time of `performance.now()` when the stream has ended, also if its connection broke. */
  ended: Promise<number>;
  close(): void;
}

/** Opens a stream. Throws if the response has another status than 200. */
export async function openStream(url: string, headers: Record<string, string>): Promise<TestStream> {
  const aborting = new AbortController();
  const response = await fetch(url + CHANGES, { headers, signal: aborting.signal });
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text());
  const arrivals = new EventEmitter().setMaxListeners(0);
  const blocks: StreamBlock[] = [];
  const ended = readBlocks(response, (block) => {
    blocks.push(block);
    arrivals.emit('block');
  });
  let isOpen = true;
  void ended.then(() => {
    isOpen = false;
    arrivals.emit('block');
  });
  return {
    response,
    blocks,
    lastId: () => blocks.findLast(({ id }) => id !== undefined)?.id,
    async find(fits, withinMs = 5_000) {
      const signal = AbortSignal.timeout(withinMs);
      for (;;) {
        const found = blocks.find(fits);
        if (found !== undefined) {
          return found;
        }
        assert.ok(isOpen, `the stream ended without the block: ${JSON.stringify(blocks)}`);
        await once(arrivals, 'block', { signal }).catch(() =>
          assert.fail(`no such block within ${withinMs} ms: ${JSON.stringify(blocks)}`),
        );
      }
    },
    ended,
    close: () => aborting.abort(),
  };
}

async function readBlocks({ body }: Response, onBlock: (block: StreamBlock) => void): Promise<number> {
  assert.ok(body);
  let rest = '';
  try {
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + text).split('\n\n');
      rest = parts.pop() ?? '';
      parts.forEach((part) => onBlock(blockOf(part)));
    }
  } catch {
    // The connection broke, or the test has closed it.
  }
  return performance.now();
}

function blockOf(text: string): StreamBlock {
  const fields = text.split('\n').map((line) => {
    const [, name = '', value = ''] =
      /^([a-z]*): (.*)$/.exec(line) ?? assert.fail(`not a field: ${JSON.stringify(line)}`);
    return name === '' ? ['comment', value] : [name, name === 'data' ? (JSON.parse(value) as unknown) : value];
  });
  return { ...(Object.fromEntries(fields) as Omit<StreamBlock, 'atMs'>), atMs: performance.now() };
}

/** Returns a function that says if a block is a hint with this topic. */
export function hasTopic(topic: string): (block: StreamBlock) => boolean {
  return ({ event, data }) => event === 'change' && data.topics.includes(topic);
}

/** Returns all topics that the stream has told. */
export function topicsIn({ blocks }: TestStream): Set<string> {
  return new Set(blocks.flatMap(({ event, data }) => (event === 'change' ? (data.topics as string[]) : [])));
}

/** Returns a signed-in owner of a tenant. The database need not have the rows, because a stream may outlive its access. */
export function ownerOf(tenantId: number): Staff {
  const tenant = { id: tenantId, slug: '', name: '', currency: 'EUR', timezone: 'UTC', features: [] };
  const now = new Date();
  const session = { kind: 'token' as const, id: null, generation: 0, expiresAt: now, now };
  const person = { email: 'a@b.example', role: 'owner' as const, areas: [], language: null };
  return { type: 'person', id: newId(), name: null, ...person, tenant, session };
}

/** Returns the rows of a look that shows only orders, newest first. */
export function lookOf(momentMs: number, orderIds: string[]): LookRow {
  const none = { eventIds: null, eventOrderIds: null, auditIds: null, auditActions: null };
  return { momentMs, orderIds, ...none, reservationIds: null, reservationTimes: null };
}
