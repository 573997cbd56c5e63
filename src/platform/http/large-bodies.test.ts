import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import Type from 'typebox';
import { DEFAULT_BOUNDS } from '../lib/bounds.ts';
import { type App, createHttpApp } from './app.ts';

const LARGE_BYTES = 64 * 1024;
const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';
const PADDING = 'x'.repeat(LARGE_BYTES);

const Body = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 10 }),
  count: Type.Optional(Type.Integer({ minimum: 1 })),
  isOpen: Type.Optional(Type.Boolean()),
  note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  items: Type.Optional(Type.Array(Type.Object({ name: Type.String() }), { maxItems: 100 })),
});

/** A small body, and the same body with an additional large field. The schema does not name this field, so the service ignores it. */
interface Case {
  type: string;
  text: string;
  padded: string;
}

function json(fields: Record<string, unknown>): Case {
  return { type: JSON_TYPE, text: JSON.stringify(fields), padded: JSON.stringify({ ...fields, padding: PADDING }) };
}

function form(text: string): Case {
  return { type: FORM, text, padded: `${text}&padding=${PADDING}` };
}

function multipart(fields: Record<string, string>): Case {
  const part = ([name, value]: [string, string]) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const text = (all: Record<string, string>) => `${Object.entries(all).map(part).join('')}--b--\r\n`;
  return {
    type: 'multipart/form-data; boundary=b',
    text: text(fields),
    padded: text({ ...fields, padding: PADDING }),
  };
}

/** Returns the nice value (the priority) of each thread of this process, from /proc (proc(5), field 19 of `stat`). */
async function threadPriorities(): Promise<number[]> {
  const threads = await readdir('/proc/self/task');
  const stats = await Promise.all(
    threads.map(async (thread) => {
      // A thread of an earlier test file may end between the two reads, and then has no file.
      return await readFile(`/proc/self/task/${thread}/stat`, 'utf8').catch(() => null);
    }),
  );
  // Field 2 is the name of the thread in parentheses, and may contain spaces. So the code splits only the text after the closing
  // parenthesis, which begins with field 3. Field 19 then has the index 16.
  return stats
    .filter((stat) => stat !== null)
    .map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]));
}

describe('a body above 64 KiB', () => {
  let app: App;
  let url: string;
  before(async () => {
    app = createHttpApp({ logger: pino({ level: 'silent' }), trustedProxies: [] });
    app.post('/echo', { schema: { body: Body } }, async ({ body }) => ({ body }));
    url = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  after(() => app.close());

  async function send(body: string | Buffer, type: string, headers: Record<string, string> = {}) {
    const response = await fetch(`${url}/echo`, {
      method: 'POST',
      headers: { 'content-type': type, ...headers },
      body,
    });
    return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
  }

  it('200: a route gets the same value from a body above 64 KiB as from a small body', async () => {
    for (const { type, text, padded } of [
      json({ id: 'a' }),
      json({ id: 'é🍕', count: 2, isOpen: false, note: null, items: [{ name: 'x' }, { name: '' }] }),
      form('id=a&count=2&isOpen=true&note=&items[0][name]=x&items[1]name=%F0%9F%8D%95'),
      form(`id=a&items=${encodeURIComponent('[{"name":"x"}]')}`),
      multipart({ id: 'a', count: '3', 'items[0].name': 'é' }),
    ]) {
      const small = await send(text, type);
      assert.equal(small.status, 200);
      assert.deepEqual(await send(padded, type), small);
    }
  });

  it('400, 415: an invalid body above 64 KiB gets the same response as a small body with the same fault', async () => {
    for (const { type, text, padded } of [
      json({ id: '' }),
      json({ id: 1, count: '2', items: [{}, { name: 2 }] }),
      json({ id: 'a', items: Array.from({ length: 101 }, () => ({})) }),
      json({ id: 'a', note: '\u0000' }),
      json({ id: 'a', constructor: 1 }),
      form('id=a&id=b'),
      form('id=%zz'),
      form('count=x'),
      multipart({ id: '' }),
      { type: 'text/plain', text: 'x', padded: PADDING },
      { type: 'multipart/form-data', text: 'x', padded: PADDING },
      { type: `${JSON_TYPE}; charset=latin1`, text: '{}', padded: `{"padding":"${PADDING}"}` },
    ]) {
      const small = await send(text, type);
      assert.ok(small.status >= 400);
      assert.deepEqual(await send(padded, type), small);
    }
    const { text, padded } = json({ id: 'a' });
    const gzip = { 'content-encoding': 'gzip' };
    assert.deepEqual(await send(padded, JSON_TYPE, gzip), await send(text, JSON_TYPE, gzip));
    const latin1 = Buffer.from(padded.replace('"a"', '"\xff"'), 'latin1');
    assert.equal((await send(latin1, JSON_TYPE)).answer['message'], 'body: contains bytes that are not UTF-8');
  });

  it('200: the worker thread that checks a body above 64 KiB has a lower priority than the event loop', {
    skip: process.platform === 'linux' ? false : 'only Linux has priorities of threads',
  }, async () => {
    assert.equal((await send(json({ id: 'a' }).padded, JSON_TYPE)).status, 200);
    const own = getPriority();
    assert.ok((await threadPriorities()).some((priority) => priority > own));
  });

  it('200: from a body above 64 KiB, a route gets only the fields that its schema names', async () => {
    const fields = { id: 'a', more: { deep: [1] }, items: [{ name: 'x', more: 1 }] };
    const { answer } = await send(json(fields).padded, JSON_TYPE);
    assert.deepEqual(answer['body'], { id: 'a', items: [{ name: 'x' }] });
  });

  it('400: the response lists the first 50 faults of a body above 64 KiB, but all faults of a body of 64 KiB', async () => {
    const bad = JSON.stringify({ id: 'a', items: Array.from({ length: 100 }, () => ({})) });
    const all = await send(bad.padEnd(LARGE_BYTES), JSON_TYPE);
    const first = await send(bad.padEnd(LARGE_BYTES + 1), JSON_TYPE);
    assert.deepEqual([all.status, first.status], [400, 400]);
    const faults = String(all.answer['message']).split(' | ');
    assert.equal(faults.length, 100);
    assert.equal(
      first.answer['message'],
      [...faults.slice(0, 50), 'body: has more faults, which are shown after you correct these'].join(' | '),
    );
  });

  it('400: for a list of about 349,000 empty entries, the response reports only that the list is too long', async () => {
    const items = `[${'{},'.repeat(349_000)}{}]`;
    const message = 'items: must have at most 100 entries';
    for (const [body, type] of [
      [`{"id":"a","items":${items}}`, JSON_TYPE],
      [`id=a&items=${items}`, FORM],
    ] as const) {
      assert.ok(body.length > 1024 * 1024 - 2_000);
      assert.deepEqual(await send(body, type), { status: 400, answer: { code: 'invalid_request', message } });
    }
  });
});

describe('configured bounds on the length of lists', () => {
  it('400: a list with more entries than the configured bound is refused, in a small and in a large body', async () => {
    const app = createHttpApp({
      logger: pino({ level: 'silent' }),
      trustedProxies: [],
      bounds: { ...DEFAULT_BOUNDS, orderItems: 2 },
    });
    const items = Type.Array(Type.Integer(), { maxItems: DEFAULT_BOUNDS.orderItems, 'x-bound': 'orderItems' });
    app.post('/', { schema: { body: Type.Object({ items }) } }, async () => ({}));
    for (const padding of ['', PADDING]) {
      const post = async (list: number[]) =>
        (await app.inject({ method: 'POST', url: '/', payload: { items: list, padding } })).statusCode;
      assert.deepEqual([await post([1, 2]), await post([1, 2, 3])], [200, 400]);
    }
    await app.close();
  });
});
