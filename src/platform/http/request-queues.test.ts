import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { STRANGERS } from '../lib/account.ts';
import { noteArrival } from '../lib/arrivals.ts';
import { RequestQueues } from './request-queues.ts';

describe('RequestQueues (the order in which requests begin)', () => {
  let queues: RequestQueues;
  let begun: string[];
  let nowMs: number;

  before(() => mock.method(performance, 'now', () => nowMs));
  after(() => mock.restoreAll());
  beforeEach(() => {
    queues = new RequestQueues();
    begun = [];
    nowMs = 1_000_000;
  });

  function requestOf(authorization: string): FastifyRequest {
    return { headers: { authorization } } as FastifyRequest;
  }

  interface Entering {
    isFirst?: boolean;
    costMs?: number;
    isGone?: boolean;
  }

  function enter(who: string, name: string, { isFirst = false, costMs = 0, isGone = false }: Entering = {}): void {
    const list = begun;
    queues.enter(requestOf(who), isFirst, () => {
      if (!isGone) {
        list.push(name);
        nowMs += costMs;
      }
      return !isGone;
    });
  }

  /** Runs one request with these credentials, so that the queues cache the tenant of the credentials. */
  async function learn(who: string, tenant: string): Promise<void> {
    queues.enter(requestOf(who), false, (queue) => {
      queues.end(queue, requestOf(who), { tenant, caller: who });
      return true;
    });
    await nextRound();
  }

  /** Runs one iteration of the event loop that takes this number of milliseconds. */
  async function roundOf(ms: number): Promise<void> {
    nowMs += ms;
    await nextRound();
  }

  it('requests that arrive in one iteration of the event loop begin together at its end, in the order of their arrival', async () => {
    for (const name of ['1', '2', '3']) {
      enter('a', name);
      await Promise.resolve();
    }
    assert.deepEqual(begun, []);
    await nextRound();
    assert.deepEqual(begun, ['1', '2', '3']);
  });

  it('waiting requests of two tenants begin in turns, and a tenant with two credentials gets no more turns than a tenant with one', async () => {
    await learn('a', 'tenant 1');
    await learn('other of a', 'tenant 1');
    await learn('b', 'tenant 2');
    enter('a', 'a1');
    enter('a', 'a2');
    enter('other of a', 'a3');
    enter('b', 'b1');
    await nextRound();
    assert.deepEqual(begun, ['a1', 'b1', 'a2', 'a3']);
  });

  it('all unauthenticated callers together get as many turns as one tenant', async () => {
    await learn('b', 'tenant 2');
    ['x', 'y', 'z'].forEach((who) => enter(who, who));
    enter('b', 'b1');
    await nextRound();
    assert.deepEqual(begun, ['x', 'b1', 'y', 'z']);
  });

  it('while new connections keep arriving, the first request on a new connection waits, but a request on an older one begins', async () => {
    enter('a', 'of a new connection', { isFirst: true });
    enter('a', 'of an open one');
    for (let round = 0; round < 5; round += 1) {
      noteArrival();
      await nextRound();
      assert.deepEqual(begun, ['of an open one']);
    }
    await nextRound();
    await nextRound();
    assert.deepEqual(begun, ['of an open one', 'of a new connection']);
  });

  it('if requests are measured to take 1.5 ms, an event loop iteration begins only two of three waiting requests, because it begins no request after 2 ms of work', async () => {
    enter('a', 'to learn from', { costMs: 1.5 });
    await nextRound();
    ['1', '2', '3'].forEach((name) => enter('a', name, { costMs: 1.5 }));
    await nextRound();
    assert.deepEqual(begun, ['to learn from', '1', '2'], 'the second request began after 1.5 ms of the 2 ms');
    await nextRound();
    assert.deepEqual(begun, ['to learn from', '1', '2', '3']);
  });

  it('the measured duration of a request includes its work in microtasks', async () => {
    const list = begun;
    const heavy = (name: string) =>
      queues.enter(requestOf('a'), false, () => {
        list.push(name);
        void Promise.resolve()
          .then(() => {})
          .then(() => (nowMs += 3));
        return true;
      });
    heavy('to learn from');
    await nextRound();
    heavy('1');
    heavy('2');
    await nextRound();
    assert.deepEqual(begun, ['to learn from', '1']);
  });

  it('while iterations of the event loop are long, a tenant runs at most four requests, and its fifth waits until one has ended', async () => {
    await learn('a', 'tenant 1');
    await learn('b', 'tenant 2');
    ['1', '2', '3', '4', '5'].forEach((name) => enter('a', name));
    enter('b', 'of another');
    await roundOf(7);
    assert.deepEqual(begun, ['1', 'of another', '2', '3', '4']);
    await roundOf(7);
    assert.equal(begun.length, 5);
    queues.end('tenant 1', requestOf('a'), { tenant: 'tenant 1', caller: 'a' });
    await roundOf(7);
    assert.equal(begun.at(-1), '5');
  });

  for (const [when, ms] of [
    ['after a short iteration of the event loop', 1],
    ['after it has waited for one second, even if iterations of the event loop are long', 1_000],
  ] as const) {
    it(`while four requests of a tenant are running, its fifth request begins ${when}`, async () => {
      ['1', '2', '3', '4', '5'].forEach((name) => enter('a', name));
      await roundOf(7);
      assert.equal(begun.length, 4);
      await roundOf(ms);
      assert.equal(begun.length, 5);
    });
  }

  it('while four requests of a tenant are running, its requests that have waited for 1 s begin one by one, every 250 ms', async () => {
    ['1', '2', '3', '4', '5', '6', '7'].forEach((name) => enter('a', name));
    await roundOf(7);
    await roundOf(1_000);
    assert.equal(begun.length, 5);
    await roundOf(240);
    assert.equal(begun.length, 5);
    await roundOf(10);
    assert.equal(begun.length, 6);
    await roundOf(250);
    assert.equal(begun.length, 7);
  });

  it('a request whose client has closed the connection is not counted as a running request of its tenant', async () => {
    ['1', '2', '3'].forEach((name) => enter('a', name, { isGone: true }));
    ['4', '5', '6', '7'].forEach((name) => enter('a', name));
    await roundOf(7);
    assert.deepEqual(begun, ['4', '5', '6', '7']);
  });

  it('if a request repeats credentials that were refused before, the request waits in the queue of unauthenticated callers', async () => {
    await learn('a', 'tenant 1');
    const queueOf = async (who: string) => {
      let seen = '';
      queues.enter(requestOf(who), false, (queue) => {
        seen = queue;
        return false;
      });
      await nextRound();
      return seen;
    };
    assert.equal(await queueOf('a'), 'tenant 1');
    queues.end(STRANGERS, requestOf('a with another secret'), { tenant: STRANGERS, caller: '' });
    assert.equal(await queueOf('a with another secret'), STRANGERS);
  });
});
