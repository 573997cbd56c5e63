import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { Staff } from '#access/tenants/tenants.ts';
import { newId } from '#platform/lib/ids.ts';

export const CHANGES = '/v1/staff/changes/';

/** Block of a stream of events, which is the text between two empty lines. Fields that the block does not contain are undefined. */
export interface StreamBlock {
  comment?: string;
  event?: string;
  retry?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read data of every shape
  data?: any;
  atMs: number;
}

export interface TestStream {
  response: Response;
  blocks: StreamBlock[];
  events(): StreamBlock[];
  /** Returns the first fitting block after the first `from` blocks. @throws if the stream ends first, or after `withinMs` */
  find(fits: (block: StreamBlock) => boolean, options?: { from?: number; withinMs?: number }): Promise<StreamBlock>;
  /** Resolves with the time of `performance.now()` when the stream has ended, also if its connection broke. */
  ended: Promise<number>;
  close(): void;
}

/** Opens a stream of events. @throws AssertionError if the status of the response is not 200 */
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
    events: () => blocks.filter(({ event }) => event !== undefined),
    async find(fits, { from = 0, withinMs = 15_000 } = {}) {
      const signal = AbortSignal.timeout(withinMs);
      for (;;) {
        const found = blocks.slice(from).find(fits);
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

export const isBeat = ({ comment }: StreamBlock) => comment?.startsWith('beat ') === true;
export const isResync = ({ event }: StreamBlock) => event === 'resync';

/** Returns a condition for the method `find` of a stream. A block meets the condition if it reports a change of data of this topic. */
export function hasTopic(topic: string): (block: StreamBlock) => boolean {
  return ({ event, data }) => event === 'change' && data.topics.includes(topic);
}

export function topicsIn({ blocks }: TestStream): Set<string> {
  return new Set(blocks.flatMap(({ event, data }) => (event === 'change' ? (data.topics as string[]) : [])));
}

/** Returns an owner of whom the database has no rows, because the tests of streams need none. */
export function ownerOf(tenantId: number): Staff {
  const tenant = { id: tenantId, slug: '', name: '', currency: 'EUR', timezone: 'UTC', features: [] };
  const now = new Date();
  const session = { kind: 'token' as const, id: null, generation: 0, expiresAt: now, now };
  const person = { email: 'a@b.example', role: 'owner' as const, areas: [], language: null };
  return { type: 'person', id: newId(), name: null, ...person, tenant, session };
}
