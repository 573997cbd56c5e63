import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairGate } from './fair-gate.ts';

const open = (limit: number, limitPerKey?: number, maxWaitMs = 60_000) =>
  new FairGate({
    limit,
    ...(limitPerKey === undefined ? {} : { limitOf: () => limitPerKey }),
    maxWaitMs,
    waitedTooLong: () => new Error('too long'),
  });

/** Enters the gate with these keys in this order. @returns the keys in the order in which they enter; waiting keys are added later */
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
  it('a gate admits as many callers as its limit immediately, and the next caller when one leaves', async () => {
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

  it('a gate serves the waiting keys in turns, even if many callers wait with one key', async () => {
    const gate = open(1);
    const letIn = ask(gate, ['a', 'a', 'a', 'a', 'b', 'b', 'c']);
    for (let served = 0; served < 6; served += 1) {
      gate.leave(letIn.at(-1) ?? '');
      await turn();
    }
    assert.deepEqual(letIn.slice(1), ['a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('a gate does not give its last place to a key that has reached its own limit, but gives it to another key', async () => {
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

  it('a gate refuses a caller that has waited too long, and admits later callers', async () => {
    const gate = open(1, 1, 20);
    assert.equal(gate.enter('a'), undefined);
    await assert.rejects(async () => await gate.enter('b'), /too long/);
    assert.equal(gate.countWaiting(), 0);
    gate.leave('a');
    assert.equal(gate.enter('b'), undefined);
  });

  it('a gate does not give a free place to a caller that it has refused after too long a wait', async () => {
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
});
