import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTurn } from './turn.ts';

describe('startTurn', () => {
  it('three long tasks take turns, and each iteration of the event loop runs only one step of one task', async () => {
    const steps: string[] = [];
    const work = async (name: string) => {
      const turn = startTurn();
      for (let step = 0; step < 3; step += 1) {
        await turn.next();
        steps.push(name);
      }
    };
    const done = Promise.all(['a', 'b', 'c'].map(work)).then(() => 'done');
    const rounds = async () => {
      for (let round = 0; ; round += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        steps.push('-');
        if (round === 12) return;
      }
    };
    await Promise.all([done, rounds()]);
    assert.match(steps.join(''), /^-?a-b-c-a-b-c-a-b-c-+$/);
  });
});
