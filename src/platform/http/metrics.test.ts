import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';

import { DEFAULT_BOUNDS } from '../lib/bounds.ts';
import { FairGate } from '../lib/fair-gate.ts';
import { BodyBudget } from './body-budget.ts';
import { registerBoundMetrics } from './metrics.ts';

describe('metrics of the bounds of requests', () => {
  it('tell the bytes that are held, what was refused by which bound, and who waits', async () => {
    const registry = new Registry();
    const budget = new BodyBudget(DEFAULT_BOUNDS.bodyBytes);
    const gate = new FairGate({ places: 1, maxWaitMs: 60_000, waitedTooLong: () => new Error() });
    const countWaiting = () => gate.countWaiting();
    registerBoundMetrics(registry, { bodies: budget.counts, streams: { countWaiting: () => 3 }, countWaiting });
    const lines = async () =>
      (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    assert.deepEqual(await lines(), [
      'http_body_bytes 0',
      'http_bodies_refused_total{bound="caller"} 0',
      'http_bodies_refused_total{bound="tenant"} 0',
      'http_bodies_refused_total{bound="process"} 0',
      'http_waiting_streams 3',
      'database_waiting_callers 0',
    ]);
    const account = { tenant: '1', caller: 'a' };
    const held = budget.spaceFor(account);
    assert.equal(held.growTo(DEFAULT_BOUNDS.bodyBytes.ofCaller), null);
    assert.notEqual(budget.spaceFor(account).growTo(100_000), null);
    void gate.enter('1');
    void gate.enter('1')?.catch(() => {});
    const after = await lines();
    assert.ok(after.includes(`http_body_bytes ${DEFAULT_BOUNDS.bodyBytes.ofCaller}`));
    assert.ok(after.includes('http_bodies_refused_total{bound="caller"} 1'));
    assert.ok(after.includes('database_waiting_callers 1'));
    held.release();
    gate.leave('1');
    assert.ok((await lines()).includes('http_body_bytes 0'));
  });
});
