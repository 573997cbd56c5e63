import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compare } from './compare.ts';
import { renderCostTable } from './cost-table.ts';
import { readOptions } from './options.ts';
import { medianOfSlices } from './queue-slice.ts';
import { atLeast, atMost, renderQueueTable } from './queue-table.ts';
import { median, percentile } from './statistics.ts';
import { latencyWithin, memoryBelow, ratioOf, renderTable } from './table.ts';

describe('statistics', () => {
  it('a percentile is one of the given values, and the median of an even number of values is the mean of the two middle values', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
    assert.deepEqual([percentile(hundred, 0.5), percentile(hundred, 0.99), percentile([7], 0.99)], [51, 100, 7]);
    assert.deepEqual([median([3, 1, 2]), median([4, 1, 3, 2]), median([5])], [2, 2.5, 5]);
  });
});

describe('comparison of a subject (the service) with its floor (the baseline)', () => {
  const sliceOf = (perSecond: number) => ({ perSecond, p50Ms: 1, p99Ms: 2 });

  it('a benchmark comparison warms up the subject (the service) and the floor (the baseline), measures both alternately, and returns the ratio of their medians', async () => {
    const turns: string[] = [];
    const rates = { subject: [1, 30, 10, 20], floor: [1, 50, 40, 10] };
    const run = (name: 'subject' | 'floor') => async (seconds: number) => {
      turns.push(`${name} ${seconds}`);
      return sliceOf(rates[name].shift() ?? 0);
    };
    const { ratio, subject, floor } = await compare(run('subject'), run('floor'), { rounds: 3, seconds: 2 });
    assert.deepEqual(turns.slice(0, 4), ['subject 1', 'floor 1', 'subject 2', 'floor 2']);
    assert.deepEqual([subject.perSecond, floor.perSecond, ratio], [20, 40, 0.5]);
  });

  it('a benchmark comparison fails if no response arrives during its measurements', async () => {
    const withoutResponses = async () => sliceOf(0);
    await assert.rejects(compare(withoutResponses, withoutResponses, { rounds: 1, seconds: 1 }), /No response arrived/);
  });
});

describe('results table', () => {
  it('the column "reached" is yes if the measured value meets the goal, no if the value is worse or missing, and empty if the row has no goal', () => {
    const text = renderTable([
      { operation: 'a', ratio: 0.8, goal: ratioOf(0.8) },
      { operation: 'b', ratio: 0.79, goal: ratioOf(0.8) },
      { operation: 'c', p50Ms: 2, p99Ms: 10.01, goal: latencyWithin(2, 10) },
      { operation: 'd', goal: memoryBelow(64) },
      { operation: 'e', perSecond: 12.4 },
    ]);
    const cells = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
    const reached = cells[0]?.indexOf('reached') ?? -1;
    assert.deepEqual(
      cells.slice(2).map((line) => line[reached]),
      ['yes', 'no', 'no', 'no', ''],
    );
    assert.equal(new Set(text.split('\n').map((line) => line.length)).size, 1);
  });
});

describe('comparison of queues', () => {
  const guarantees = 'at least once';
  const goals = [atLeast('ofFloor', 0.6), atMost('storeCpuMs', 0.07)];

  it('the table of webhook senders says if each goal is reached, and states the delivery guarantee of a sender only once', () => {
    const text = renderQueueTable([
      { receivers: 1, sender: 'a', ofFloor: 0.6, storeCpuMs: 0.071, goals, guarantees },
      { receivers: 50, sender: 'a', ofFloor: 0.59, goals, guarantees },
      { receivers: 50, sender: 'b', note: 'not measured' },
    ]);
    const cells = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
    const reached = cells[0]?.indexOf('reached') ?? -1;
    assert.deepEqual(
      cells.slice(2, 5).map((line) => line[reached]),
      ['yes, no', 'no, no', ''],
    );
    assert.deepEqual(text.split('\n').slice(5), ['', '- a: at least once']);
  });

  it('medianOfSlices returns the median of each value of three measurements, and null for a value that is null in all three measurements', () => {
    const slice = { senderCpuMs: null, storeCpuMs: 0.1, receiverLoad: null };
    const slices = [1, 30, 20].map((perSecond) => ({ ...slice, perSecond, connections: perSecond * 2 }));
    assert.deepEqual(medianOfSlices(slices), { ...slice, perSecond: 20, connections: 40 });
  });
});

describe('costs of calls', () => {
  it('the table of costs says how many calls a CPU second is enough for, and has an empty cell for each unknown value', () => {
    const text = renderCostTable([
      { call: 'a', concurrent: 128, tenants: 2, apiUs: 80, postgresUs: 0, walBytes: 1373.4 },
      { call: 'b', concurrent: 2, tenants: 90, redisUs: 4.26 },
    ]);
    const cells = text.split('\n').map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
    assert.deepEqual(cells.slice(2), [
      ['a', '128 × 2', '80', '0', '', '12500', '', '1373', ''],
      ['b', '2 × 90', '', '', '4.3', '', '', '', ''],
    ]);
  });
});

describe('command-line options of the benchmark', () => {
  it('the benchmark uses small data by default and large data with --full, and refuses unknown options and invalid values', () => {
    const { isFull, seconds, rounds, only } = readOptions(['--only', 'menu', '--only', 'order', '--seconds', '0.5']);
    assert.deepEqual([isFull, seconds, rounds, only], [false, 0.5, 3, ['menu', 'order']]);
    assert.equal(readOptions([]).sizes.manyOrders, 300_000);
    assert.equal(readOptions(['--full']).sizes.manyOrders, 10_000_000);
    assert.equal(readOptions(['--events', '40000']).queuedEvents, 40_000);
    for (const wrong of [['--seconds', '0'], ['--rounds', 'x'], ['--events', '1'], ['--fast']]) {
      assert.throws(() => readOptions(wrong));
    }
  });
});
