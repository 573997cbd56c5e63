import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { callUnchecked } from '#test/support/http.ts';
import { createHttpApp } from './app.ts';
import { sendLongList } from './list.ts';
import { PageQuery } from './paging.ts';

it('200: HEAD of a long list reads only the first batch of rows, and does no work after the response', async (test) => {
  const app = createHttpApp({ logger: pino({ level: 'silent' }), trustedProxies: [] });
  test.after(() => app.close());
  let reads = 0;
  const list = {
    async readBatch(afterId: string | null, limit: number) {
      reads += 1;
      const from = Number(afterId ?? 0);
      const length = Math.min(limit, 5_000 - from);
      return Array.from({ length }, (_, index) => ({ id: String(from + index + 1) }));
    },
    readPage: () => assert.fail('no page is asked for'),
  };
  app.get('/list', { schema: { querystring: PageQuery } }, (request, reply) =>
    sendLongList(request, reply, list, ({ id }) => id),
  );
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const head = await callUnchecked(url, 'HEAD', '/list');
  await sleep(20); // The service must do no work after the response, so there is no event for which the test could wait.
  assert.deepEqual([head.status, head.text, reads], [200, '', 1]);
  const { status, body } = await callUnchecked(url, 'GET', '/list');
  assert.deepEqual([status, body.length], [200, 5_000]);
  assert.ok(reads > 5);
});
