import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../errors.ts';
import { chargeTo, currentAccount } from '../lib/account.ts';
import { batching } from './batching.ts';
import { createDatabase } from './database.ts';

/** Never connected to. */
const url = 'postgres://localhost/none';
const oneNode = createDatabase({ url, poolSize: 1 });
const cluster = createDatabase({ url, poolSize: 1, layout: 'cluster' });

/** Doubles numbers, and notes what went together; a batch with 13 in it fails, and so does 13 alone. */
function doubling({ db = oneNode, maxUnderWay = 1, error = new Error('13') } = {}) {
  const sent: number[][] = [];
  const double = async (inputs: number[]) => {
    sent.push(inputs);
    await sleep(5);
    if (inputs.includes(13)) {
      throw error;
    }
    return inputs.map((input) => input * 2);
  };
  return { sent, call: batching(db, { many: double, maxUnderWay }) };
}

describe('batched work', () => {
  it('sends what arrives together as one, and answers each caller', async () => {
    const { sent, call } = doubling();
    assert.deepEqual(await Promise.all([1, 2, 3].map(call)), [2, 4, 6]);
    assert.deepEqual(sent, [[1, 2, 3]]);
    assert.equal(await call(4), 8);
    assert.deepEqual(sent.at(-1), [4]);
  });

  it('gathers what comes while as much is under way as may be, and lets it join nothing that has begun', async () => {
    const { sent, call } = doubling();
    const first = call(1);
    await sleep(2);
    const others = [call(2), call(3)];
    assert.deepEqual(await Promise.all([first, ...others]), [2, 4, 6]);
    assert.deepEqual(sent, [[1], [2, 3]]);
  });

  it('keeps to 64 inputs, and runs several batches side by side if it may', async () => {
    const { sent, call } = doubling({ maxUnderWay: 2 });
    const inputs = Array.from({ length: 150 }, (_, index) => index + 100);
    const answers = Promise.all(inputs.map(call));
    await sleep(3);
    assert.deepEqual(sent, [inputs.slice(0, 64), inputs.slice(64, 128)]);
    assert.deepEqual(
      await answers,
      inputs.map((input) => input * 2),
    );
    assert.deepEqual(sent.at(-1), inputs.slice(128));
  });

  it('does a failed batch again one by one, so that a fault stays with its caller', async () => {
    const { sent, call } = doubling();
    const [one, bad, three] = await Promise.allSettled([1, 13, 3].map(call));
    assert.deepEqual(
      [one, three].map((each) => each?.status === 'fulfilled' && each.value),
      [2, 6],
    );
    assert.equal(bad?.status, 'rejected');
    assert.deepEqual(sent, [[1, 13, 3], [1], [13], [3]]);
    assert.equal(await call(5), 10, 'and goes on');
  });

  it('asks a database that is out of reach only once for all', async () => {
    const { sent, call } = doubling({ error: new UnavailableError('out of reach') });
    const ended = await Promise.allSettled([1, 13].map(call));
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.equal(sent.length, 1);
  });

  it('lets nobody wait on for a database that is out of reach', async () => {
    const { sent, call } = doubling({ error: new UnavailableError('out of reach') });
    const first = call(13);
    await sleep(2);
    const ended = await Promise.allSettled([first, call(1), call(2)]);
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    );
    assert.equal(sent.length, 1);
    assert.equal(await call(3), 6, 'and goes on');
  });

  it('gives no turns on a cluster, whose statements take one input', async () => {
    const { sent, call } = doubling({ db: cluster });
    assert.deepEqual(await Promise.all([1, 2, 3].map(call)), [2, 4, 6]);
    const began = sent.length;
    const more = [4, 5].map(call);
    assert.equal(sent.length, began + 2, 'all at once');
    await Promise.all(more);
  });
});

describe('batched work of several tenants', () => {
  it('gives each tenant as many places in a batch as the others, however many wait for one of them', async () => {
    const { sent, call } = doubling();
    const first = call(0);
    await sleep(2);
    const callsOf = (tenant: string, inputs: number[]) =>
      chargeTo({ tenant, caller: tenant }, () => inputs.map((input) => call(input)));
    const many = Array.from({ length: 100 }, (_, index) => 100 + index);
    await Promise.all([first, ...callsOf('a', many), ...callsOf('b', [7]), ...callsOf('c', [8, 9])]);
    assert.deepEqual(sent, [[0], [100, 7, 8, 101, 9, ...many.slice(2, 61)], many.slice(61)]);
  });

  it('charges a single call to the service too, so that it waits for no connection of its tenant', async () => {
    const charged: string[] = [];
    const many = async (inputs: number[]) => {
      charged.push(currentAccount().tenant);
      return inputs;
    };
    const call = batching(oneNode, { many, maxUnderWay: 1 });
    await chargeTo({ tenant: 'a', caller: 'a' }, () => call(1));
    assert.deepEqual(charged, ['service']);
  });

  it('charges a batch to the service, and what is done again after a failed batch to its tenant', async () => {
    const charged: string[] = [];
    const many = async (inputs: number[]) => {
      charged.push(`${inputs.length} of ${currentAccount().tenant}`);
      if (inputs.length > 1) {
        throw new Error('one of them is bad');
      }
      return inputs;
    };
    const call = batching(oneNode, { many, maxUnderWay: 1 });
    await Promise.all(['a', 'b'].map((tenant) => chargeTo({ tenant, caller: tenant }, () => call(1))));
    assert.deepEqual(charged, ['2 of service', '1 of a', '1 of b']);
  });
});
