import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { STRANGERS } from '../lib/account.ts';
import { noteArrival } from '../lib/arrivals.ts';
import { RequestLines } from './request-lines.ts';

describe('RequestLines', () => {
  let lines: RequestLines;
  let begun: string[];
  let nowMs: number;

  before(() => mock.method(performance, 'now', () => nowMs));
  after(() => mock.restoreAll());
  beforeEach(() => {
    lines = new RequestLines();
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
    lines.enter(requestOf(who), isFirst, () => {
      if (!isGone) {
        list.push(name);
        nowMs += costMs;
      }
      return !isGone;
    });
  }

  /** Makes a tenant's credentials known, as its first request does. */
  async function learn(who: string, tenant: string): Promise<void> {
    lines.enter(requestOf(who), false, (line) => {
      lines.end(line, requestOf(who), { tenant, caller: who });
      return true;
    });
    await nextRound();
  }

  /** A round of the event loop in which something takes so long. */
  async function roundOf(ms: number): Promise<void> {
    nowMs += ms;
    await nextRound();
  }

  it('begins together what has come, in its order, after the round', async () => {
    for (const name of ['1', '2', '3']) {
      enter('a', name);
      await Promise.resolve();
    }
    assert.deepEqual(begun, []);
    await nextRound();
    assert.deepEqual(begun, ['1', '2', '3']);
  });

  it('serves the tenants in turns, also where one has several credentials', async () => {
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

  it('serves all strangers as one', async () => {
    await learn('b', 'tenant 2');
    ['x', 'y', 'z'].forEach((who) => enter(who, who));
    enter('b', 'b1');
    await nextRound();
    assert.deepEqual(begun, ['x', 'b1', 'y', 'z']);
  });

  it('lets the first request of a connection wait while further connections come', async () => {
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

  it('begins no more in a round than its time allows, once it knows what they cost', async () => {
    enter('a', 'to learn from', { costMs: 1.5 });
    await nextRound();
    ['1', '2', '3'].forEach((name) => enter('a', name, { costMs: 1.5 }));
    await nextRound();
    assert.deepEqual(begun, ['to learn from', '1', '2'], 'the second began after 1.5 of 2 ms');
    await nextRound();
    assert.deepEqual(begun, ['to learn from', '1', '2', '3']);
  });

  it('counts what a request does in microtasks', async () => {
    const list = begun;
    const heavy = (name: string) =>
      lines.enter(requestOf('a'), false, () => {
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

  it('begins four requests of a tenant at once while rounds are long, and a fifth when one has ended', async () => {
    await learn('a', 'tenant 1');
    await learn('b', 'tenant 2');
    ['1', '2', '3', '4', '5'].forEach((name) => enter('a', name));
    enter('b', 'of another');
    await roundOf(7);
    assert.deepEqual(begun, ['1', 'of another', '2', '3', '4']);
    await roundOf(7);
    assert.equal(begun.length, 5);
    lines.end('tenant 1', requestOf('a'), { tenant: 'tenant 1', caller: 'a' });
    await roundOf(7);
    assert.equal(begun.at(-1), '5');
  });

  for (const [when, ms] of [
    ['as soon as a round is short', 1],
    ['once it has waited for a second, however long the rounds are', 1_000],
  ] as const) {
    it(`begins a fifth request of a tenant ${when}`, async () => {
      ['1', '2', '3', '4', '5'].forEach((name) => enter('a', name));
      await roundOf(7);
      assert.equal(begun.length, 4);
      await roundOf(ms);
      assert.equal(begun.length, 5);
    });
  }

  it('does not count a request whose client has gone', async () => {
    ['1', '2', '3'].forEach((name) => enter('a', name, { isGone: true }));
    ['4', '5', '6', '7'].forEach((name) => enter('a', name));
    await roundOf(7);
    assert.deepEqual(begun, ['4', '5', '6', '7']);
  });

  it('keeps credentials that were refused in the line of strangers', async () => {
    await learn('a', 'tenant 1');
    const lineOf = async (who: string) => {
      let seen = '';
      lines.enter(requestOf(who), false, (line) => {
        seen = line;
        return false;
      });
      await nextRound();
      return seen;
    };
    assert.equal(await lineOf('a'), 'tenant 1');
    lines.end(STRANGERS, requestOf('a with another secret'), { tenant: STRANGERS, caller: '' });
    assert.equal(await lineOf('a with another secret'), STRANGERS);
  });
});
