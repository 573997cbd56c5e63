import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gatherTurns } from './turns.ts';

describe('gatherTurns', () => {
  it('lets what has arrived go on together and in its order, after the turn', async () => {
    const gather = gatherTurns();
    const went: number[] = [];
    for (const number of [1, 2, 3]) {
      gather(() => went.push(number));
      await Promise.resolve();
    }
    assert.equal(went.length, 0);
    await nextTurn();
    assert.deepEqual(went, [1, 2, 3]);
    gather(() => went.push(4));
    await nextTurn();
    assert.deepEqual(went, [1, 2, 3, 4]);
  });

  it('leaves what arrives meanwhile to the next turn', async () => {
    const gather = gatherTurns();
    const went: string[] = [];
    gather(() => {
      gather(() => went.push('later'));
      went.push('first');
    });
    gather(() => went.push('second'));
    await nextTurn();
    assert.deepEqual(went, ['first', 'second']);
    await nextTurn();
    assert.deepEqual(went, ['first', 'second', 'later']);
  });
});
