import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';

import { DEFAULT_BOUNDS } from '../lib/bounds.ts';
import { FairGate } from '../lib/fair-gate.ts';
import { BodyBudget } from './body-budget.ts';
import { registerBoundMetrics } from './metrics.ts';

describe('metrics of the bounds on requests', () => {
  it('the metrics show the configured bounds, the bytes of request bodies in memory, the number of refused bodies, and the numbers of waiting list responses and database callers', async () => {
    const registry = new Registry();
    const budget = new BodyBudget(DEFAULT_BOUNDS.bodyBytes);
    const gate = new FairGate({ limit: 1, maxWaitMs: 60_000, waitedTooLong: () => new Error() });
    const countWaiting = () => gate.countWaiting();
    const streams = { countWaiting: () => 3 };
    registerBoundMetrics(registry, { bounds: DEFAULT_BOUNDS, bodies: budget.counts, streams, countWaiting });
    const lines = async () =>
      (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    assert.deepEqual(await lines(), [
      'request_bound{bound="order_items"} 1000',
      'request_bound{bound="item_addons"} 100',
      'request_bound{bound="dishes"} 10000',
      'request_bound{bound="dish_entries"} 200',
      'request_bound{bound="rendered_menu_bytes"} 33554432',
      'request_bound{bound="waiting_streams"} 8',
      'request_bound{bound="body_of_caller_bytes"} 8388608',
      'request_bound{bound="body_of_tenant_bytes"} 16777216',
      'request_bound{bound="body_of_process_bytes"} 67108864',
      'request_bound{bound="body_of_strangers_bytes"} 8388608',
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
