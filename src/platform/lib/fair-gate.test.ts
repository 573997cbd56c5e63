import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairGate } from './fair-gate.ts';

const open = (limit: number, limitPerKey?: number, maxWaitMs = 60_000) =>
  new FairGate({
    limit,
    ...(limitPerKey === undefined ? {} : { limitOf: () => limitPerKey }),
    maxWaitMs,
    waitedTooLong: () => new Error('too long'),
  });

/**
 * Calls `gate.enter` once for each key, in the order of the keys.
 * @returns the keys of the admitted callers, in the order of admission. The list grows each time the gate admits a waiting caller.
 */
function ask(gate: FairGate, keys: string[]): string[] {
  const letIn: string[] = [];
  for (const key of keys) {
    const waiting = gate.enter(key);
    if (waiting === undefined) {
      letIn.push(key);
    } else {
      void waiting.then(() => letIn.push(key));
    }
  }
  return letIn;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('FairGate', () => {
  it('a gate immediately admits callers up to its limit, and admits a waiting caller when another caller leaves', async () => {
    const gate = open(2);
    const letIn = ask(gate, ['a', 'b', 'a', 'c']);
    assert.deepEqual(letIn, ['a', 'b']);
    assert.equal(gate.countWaiting(), 2);
    gate.leave('b');
    await turn();
    assert.deepEqual(letIn, ['a', 'b', 'a']);
    gate.leave('a');
    await turn();
    assert.deepEqual(letIn, ['a', 'b', 'a', 'c']);
    assert.equal(gate.countWaiting(), 0);
  });

  it('a gate admits waiting callers round robin by key, even if many of them have the same key', async () => {
    const gate = open(1);
    const letIn = ask(gate, ['a', 'a', 'a', 'a', 'b', 'b', 'c']);
    for (let served = 0; served < 6; served += 1) {
      gate.leave(letIn.at(-1) ?? '');
      await turn();
    }
    assert.deepEqual(letIn.slice(1), ['a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('if a key has reached its own limit, the last free place of the gate goes only to a caller with another key', async () => {
    const gate = open(4, 3);
    const letIn = ask(gate, ['a', 'a', 'a', 'a', 'b']);
    assert.deepEqual(letIn, ['a', 'a', 'a', 'b']);
    gate.leave('b');
    await turn();
    assert.equal(letIn.length, 4, 'the fourth caller with the key a does not get the free place');
    gate.leave('a');
    await turn();
    assert.deepEqual(letIn, ['a', 'a', 'a', 'b', 'a']);
  });

  it('a gate refuses a caller that has waited longer than maxWaitMs, and still admits callers after it', async () => {
    const gate = open(1, 1, 20);
    assert.equal(gate.enter('a'), undefined);
    await assert.rejects(async () => await gate.enter('b'), /too long/);
    assert.equal(gate.countWaiting(), 0);
    gate.leave('a');
    assert.equal(gate.enter('b'), undefined);
  });

  it('a place that becomes free goes to a waiting caller, not to a caller that was refused after too long a wait', async () => {
    const gate = open(1, 1, 20);
    const letIn = ask(gate, ['a']);
    const late = gate.enter('b');
    await assert.rejects(async () => await late);
    const waiting = gate.enter('c');
    gate.leave('a');
    await waiting;
    assert.deepEqual(letIn, ['a']);
    gate.leave('c');
    assert.equal(gate.enter('d'), undefined, 'the place is free again');
  });

  it('if the work of a caller has taken N ms, a gate with the option `rests` lets the next caller enter only after N more ms', async () => {
    const gate = new FairGate({ limit: 1, maxWaitMs: 60_000, waitedTooLong: () => new Error('too long'), rests: true });
    const times: number[] = [];
    const work = async () => {
      times.push(performance.now());
      await sleep(60);
      times.push(performance.now());
    };
    await Promise.all([gate.run('a', work), gate.run('a', work)]);
    const [beganMs = 0, endedMs = 0, nextBeganMs = 0] = times;
    // After the work, a timer keeps the place taken for as many milliseconds as the work took. The timer drops fractions of a millisecond,
    // and may fire up to a millisecond early. So the place may become free up to 2 ms too early.
    assert.ok(nextBeganMs - endedMs >= endedMs - beganMs - 2, `rested ${nextBeganMs - endedMs} ms`);
  });
});
