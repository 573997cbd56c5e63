import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Gate, type GateOptions } from './gate.ts';

const refusal = () => new Error('waited too long');

function gateOf(options: Partial<GateOptions>): Gate {
  return new Gate({ places: 2, maxWaitMs: 60_000, refusal, ...options });
}

describe('Gate', () => {
  it('who waits is served key by key in turn', async () => {
    const gate = gateOf({ places: 1 });
    assert.equal(gate.tryEnter('a'), true);
    const served: string[] = [];
    const waits = ['a', 'a', 'a', 'b', 'c', 'b'].map(async (key) => {
      await gate.enter(key);
      served.push(key);
      gate.leave(key);
    });
    assert.equal(gate.waiting, 6);
    gate.leave('a');
    await Promise.all(waits);
    assert.deepEqual([served, gate.waiting], [['a', 'b', 'c', 'a', 'b', 'a'], 0]);
  });

  it('a key never has more places than its share, and another key passes those that wait for it', async () => {
    const gate = gateOf({ places: 3, placesOfKey: 1 });
    assert.deepEqual([gate.tryEnter('a'), gate.tryEnter('a'), gate.tryEnter('b')], [true, false, true]);
    const waiting = gate.enter('a');
    assert.equal(gate.tryEnter('c'), true);
    gate.leave('b');
    assert.equal(gate.waiting, 1);
    gate.leave('a');
    await waiting;
    assert.deepEqual([gate.waiting, gate.tryEnter('a')], [0, false]);
  });

  it('a wait ends with the refusal after its time, or with the reason of its signal, and takes no place', async () => {
    const gate = gateOf({ places: 1, maxWaitMs: 20 });
    assert.equal(gate.tryEnter('a'), true);
    await assert.rejects(gate.enter('b'), /waited too long/);
    const left = new AbortController();
    const waiting = gateOf({ places: 0 }).enter('b', left.signal);
    left.abort(new Error('the client left'));
    await assert.rejects(waiting, /the client left/);
    gate.leave('a');
    assert.deepEqual([gate.waiting, gate.tryEnter('b')], [0, true]);
  });

  it('a place is free again after work that fails', async () => {
    const gate = gateOf({ places: 1 });
    await assert.rejects(
      gate.run('a', () => Promise.reject(new Error('failed'))),
      /failed/,
    );
    assert.equal(await gate.run('a', async () => 'done'), 'done');
  });
});
