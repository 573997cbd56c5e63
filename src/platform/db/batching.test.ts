import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#test/support/webhooks.ts';
import { UnavailableError } from '../errors.ts';
import { batching } from './batching.ts';
import { createDatabase } from './database.ts';

const url = 'postgres://localhost/none';
const oneNode = createDatabase({ url, poolSize: 1 });
const cluster = createDatabase({ url, poolSize: 1, layout: 'cluster' });

const ofOneTenant: (input: number) => number = () => 1;

/**
 * Returns a batched function that doubles numbers, and the list of the batches that it has sent. A batch that contains 13 fails.
 * - `begun` resolves when the first batch has begun. The code that waits for it runs before any other event, so this batch is still
 *   running. A timer would not ensure this, because a process that stalls may run the timer before or after the batch.
 * - If `isHeld` is true, a batch ends only after a call of `release`.
 */
function doubling({ db = oneNode, error = new Error('13'), tenantIdOf = ofOneTenant, isHeld = false } = {}) {
  const sent: number[][] = [];
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const double = async (inputs: number[]) => {
    sent.push(inputs);
    begin();
    await (isHeld ? released : sleep(5));
    if (inputs.includes(13)) {
      throw error;
    }
    return inputs.map((input) => input * 2);
  };
  return { sent, begun, release, call: batching(db, double, tenantIdOf) };
}

describe('batching', () => {
  it('calls that arrive together run as one batch, and each caller gets its own output', async () => {
    const { sent, call } = doubling();
    assert.deepEqual(await Promise.all([1, 2, 3].map(call)), [2, 4, 6]);
    assert.deepEqual(sent, [[1, 2, 3]]);
    assert.equal(await call(4), 8);
    assert.deepEqual(sent.at(-1), [4]);
  });

  it('while two batches run, new calls wait for the next batch and do not join a running batch', async () => {
    const { sent, begun, release, call } = doubling({ isHeld: true });
    const first = call(1);
    await begun;
    const second = call(2);
    await eventually(() => sent.length === 2, 'second batch');
    const others = [call(3), call(4)];
    release();
    assert.deepEqual(await Promise.all([first, second, ...others]), [2, 4, 6, 8]);
    assert.deepEqual(sent, [[1], [2], [3, 4]]);
  });

  it('a batch has at most 64 inputs, and two batches run at the same time', async () => {
    const { sent, begun, call } = doubling();
    const inputs = Array.from({ length: 150 }, (_, index) => index + 100);
    const outputs = Promise.all(inputs.map(call));
    await begun;
    assert.deepEqual(sent, [inputs.slice(0, 64), inputs.slice(64, 128)]);
    assert.deepEqual(
      await outputs,
      inputs.map((input) => input * 2),
    );
    assert.deepEqual(sent.at(-1), inputs.slice(128));
  });

  it('the inputs of a failed batch run again one by one, so that only the caller of the invalid input gets an error', async () => {
    const { sent, call } = doubling();
    const [one, bad, three] = await Promise.allSettled([1, 13, 3].map(call));
    assert.deepEqual(
      [one, three].map((each) => each?.status === 'fulfilled' && each.value),
      [2, 6],
    );
    assert.equal(bad?.status, 'rejected');
    assert.deepEqual(sent, [[1, 13, 3], [1], [13], [3]]);
    assert.equal(await call(5), 10, 'a later call succeeds');
  });

  it('a batch that fails because the database is unavailable is not run again, and all its callers get the error', async () => {
    const { sent, call } = doubling({ error: new UnavailableError('The database is unavailable.') });
    const ended = await Promise.allSettled([1, 13].map(call));
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.equal(sent.length, 1);
  });

  it('when a batch fails because the database is unavailable, the calls that wait for the next batch fail too', async () => {
    const error = new UnavailableError('The database is unavailable.');
    const { sent, begun, release, call } = doubling({ error, isHeld: true });
    const first = call(13);
    await begun;
    const second = call(1);
    await eventually(() => sent.length === 2, 'second batch');
    const waiting = [call(2), call(3)];
    release();
    const ended = await Promise.allSettled([first, second, ...waiting]);
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['rejected', 'fulfilled', 'rejected', 'rejected'],
    );
    assert.equal(sent.length, 2);
    assert.equal(await call(4), 8, 'a later call succeeds');
  });
});

describe('batching on one node and on a database cluster', () => {
  /** Returns the tenant of an input: tenant 1 for the inputs 100 to 199, tenant 2 for 200 to 299, and so on. */
  const tenantIdOf = (input: number) => Math.floor(input / 100);

  it('calls that arrive together run as one batch for each tenant', async () => {
    const { sent, call } = doubling({ db: cluster, tenantIdOf });
    assert.deepEqual(await Promise.all([101, 201, 102, 202].map(call)), [202, 402, 204, 404]);
    assert.deepEqual(sent, [
      [101, 102],
      [201, 202],
    ]);
  });

  it('while two batches of one tenant run, the next call of this tenant waits, and a call of another tenant begins immediately', async () => {
    const { sent, begun, release, call } = doubling({ db: cluster, tenantIdOf, isHeld: true });
    const first = call(101);
    await begun;
    const second = call(102);
    await eventually(() => sent.length === 2, 'second batch');
    const others = [call(103), call(201)];
    await eventually(() => sent.length > 2, 'batch of the other tenant');
    assert.deepEqual(sent, [[101], [102], [201]]);
    release();
    await Promise.all([first, second, ...others]);
    assert.deepEqual(sent.at(-1), [103]);
  });

  it('when the database is unavailable for a batch of one tenant, the waiting calls of other tenants succeed', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let begun = 0;
    const many = async (inputs: number[]) => {
      begun += 1;
      await released;
      if (inputs.some((input) => tenantIdOf(input) === 1)) {
        throw new UnavailableError('The node of tenant 1 is down.');
      }
      return inputs;
    };
    const call = batching(cluster, many, tenantIdOf);
    const calls = [call(101), call(201)];
    await eventually(() => begun === 2, 'first batch of each tenant');
    calls.push(call(102), call(202));
    await eventually(() => begun === 4, 'second batch of each tenant');
    calls.push(call(103), call(203));
    release();
    const ended = await Promise.allSettled(calls);
    assert.deepEqual(
      ended.map((each) => each.status === 'fulfilled' && each.value),
      [false, 201, false, 202, false, 203],
    );
    assert.equal(await call(204), 204, 'a later call succeeds');
  });
});
