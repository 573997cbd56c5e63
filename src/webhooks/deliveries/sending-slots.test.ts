import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { SendingSlots, type Slot } from './sending-slots.ts';

const SLOTS = 256;
const HALF = 128;
const FIRST_SHARE = 4;
const MAX_SHARE = 32;
const SLOW_AFTER_MS = 500;
const REST_MS = 250;

const TENANT = 1;
const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`);

describe('SendingSlots', () => {
  let nowMs = 0;
  let slots: SendingSlots;

  /**
   * Replaces the clock. The time changes only when a test changes `nowMs`. So no test waits, and a slow machine cannot change a result.
   */
  beforeEach(() => {
    nowMs = 1_000;
    performance.now = () => nowMs;
    slots = new SendingSlots();
  });
  afterEach(() => {
    // The test clock is a property of the object `performance`. If this property is deleted, calls use the real `now` of the prototype
    // again.
    Reflect.deleteProperty(performance, 'now');
  });

  function attempt(url: string, isOk: boolean | null): void {
    const slot = slots.take(TENANT, url);
    void slots.begin(slot);
    slots.end(slot, isOk);
  }

  function attemptOften(url: string, isOk: boolean, count: number): void {
    for (let done = 0; done < count; done += 1) {
      attempt(url, isOk);
    }
  }

  /** Takes all free slots of each receiver, and begins an attempt with each slot. Returns the slots. */
  function fill(urls: string[]): Slot[] {
    return urls.flatMap((url) => {
      const taken = Array.from({ length: slots.freeSlots(url) }, () => slots.take(TENANT, url));
      taken.forEach((slot) => void slots.begin(slot));
      return taken;
    });
  }

  /**
   * Lets `count` attempts to a receiver succeed, one after the other. All slots of the receiver are in use when an attempt succeeds. Each
   * attempt takes about `attemptMs`.
   */
  function useAll(url: string, count: number, attemptMs = 0): void {
    const sending = fill([url]);
    for (let done = 0; done < count; done += 1) {
      nowMs += attemptMs / sending.length;
      sending.splice(0, 1).forEach((slot) => slots.end(slot, true));
      sending.push(...fill([url]));
    }
    sending.forEach((slot) => slots.end(slot, null));
  }

  it('a new receiver has 4 sending slots, and if all its slots are in use, each success adds one slot, up to 32', () => {
    assert.equal(slots.freeSlots('never seen'), FIRST_SHARE);
    assert.equal(slots.freeSlots(), FIRST_SHARE);
    useAll('a', 1);
    assert.equal(slots.freeSlots('a'), FIRST_SHARE + 1);
    useAll('a', 100);
    assert.equal(slots.freeSlots('a'), MAX_SHARE);
    assert.equal(slots.freeSlots('b'), FIRST_SHARE);
  });

  it('while 64 attempts to other receivers run, successes add slots for a receiver with attempts of 100 ms, but not for a receiver with attempts of 10 ms', () => {
    const others = fill(numbered('well', 16));
    useAll('fast', 8, 10);
    assert.equal(slots.freeSlots('fast'), FIRST_SHARE);
    useAll('far', 8, 100);
    assert.ok(slots.freeSlots('far') > FIRST_SHARE);
    others.slice(0, 8).forEach((slot) => slots.end(slot, null));
    useAll('fast', 1, 10);
    assert.equal(
      slots.freeSlots('fast'),
      FIRST_SHARE + 1,
      'with 60 attempts under way, the fast receiver gains a slot',
    );
  });

  it('if a receiver uses few of its slots, a success adds no slot, and removes one slot if the receiver has more than 4', () => {
    attemptOften('a', true, 100);
    assert.equal(slots.freeSlots('a'), FIRST_SHARE);
    useAll('a', 100);
    attempt('a', true);
    assert.equal(slots.freeSlots('a'), MAX_SHARE - 1);
    attemptOften('a', true, 100);
    assert.equal(slots.freeSlots('a'), FIRST_SHARE);
  });

  it('all deliveries to one URL share the slots of one receiver, and do not reduce the slots of another receiver', () => {
    const [first] = [slots.take(TENANT, 'a'), slots.take(TENANT, 'a'), slots.take(TENANT, 'a')];
    assert.equal(slots.freeSlots('a'), FIRST_SHARE - 3);
    slots.take(TENANT, 'a');
    slots.take(TENANT, 'a');
    assert.equal(slots.freeSlots('a'), 0);
    assert.ok(first);
    slots.release(first);
    assert.equal(slots.freeSlots('a'), 0);
    assert.equal(slots.freeSlots('b'), FIRST_SHARE);
  });

  it('a slot is free again when its attempt has ended, or when it is released without an attempt', () => {
    const [attempted, unused] = [slots.take(TENANT, 'a'), slots.take(TENANT, 'a')];
    void slots.begin(attempted);
    assert.equal(slots.freeSlots('a'), FIRST_SHARE - 2);
    slots.end(attempted, null);
    assert.equal(slots.freeSlots('a'), FIRST_SHARE - 1);
    slots.release(unused);
    assert.equal(slots.freeSlots('a'), FIRST_SHARE);
  });

  describe('with more claimed deliveries than the receiver has slots', () => {
    /**
     * Takes `count` more slots than a new receiver has, and begins all attempts. Returns the slots and the results of `begin`. A null
     * result means that this call of `begin` still waits.
     */
    function overfill(count: number) {
      const taken = Array.from({ length: FIRST_SHARE + count }, () => slots.take(TENANT, 'a'));
      const results: (boolean | null)[] = taken.map(() => null);
      const begun = taken.map(async (slot, index) => {
        results[index] = await slots.begin(slot);
      });
      return { taken, results, begun: Promise.all(begun) };
    }

    it('no more attempts begin than the receiver has slots, and each end of an attempt begins the oldest waiting delivery', async () => {
      const { taken, results, begun } = overfill(3);
      await Promise.resolve();
      assert.deepEqual(results, [true, true, true, true, null, null, null]);
      for (const [index, slot] of taken.entries()) {
        slots.end(slot, null);
        await Promise.resolve();
        const begunCount = Math.min(taken.length, FIRST_SHARE + index + 1);
        assert.equal(results.filter((mayBegin) => mayBegin === true).length, begunCount);
        assert.equal(results.indexOf(null), begunCount < taken.length ? begunCount : -1);
      }
      await begun;
      assert.equal(slots.freeSlots('a'), FIRST_SHARE);
    });

    it('if a receiver becomes slow, `begin` returns false (the attempt must not begin) for all waiting deliveries, and releases the slots that `take` reserved for these deliveries', async () => {
      const { results, begun } = overfill(3);
      nowMs += SLOW_AFTER_MS;
      assert.equal(slots.freeSlots('a'), 0);
      await begun;
      assert.deepEqual(results, [true, true, true, true, false, false, false]);
      assert.equal(slots.freeSlotsOfTenant(TENANT), HALF - FIRST_SHARE);
    });

    it('after three failures in a row, neither the waiting deliveries nor further deliveries begin', async () => {
      const { taken, results, begun } = overfill(6);
      taken.slice(0, 3).forEach((slot) => slots.end(slot, false));
      await begun;
      assert.deepEqual(results.slice(FIRST_SHARE), [false, false, false, false, false, false]);
      assert.equal(await slots.begin(slots.take(TENANT, 'a')), false);
    });
  });

  describe('freeToClaim, the number of deliveries to a receiver that may be claimed now', () => {
    /** Takes a slot for each delivery to the receiver that may be claimed now. */
    const claimAll = (url: string) => Array.from({ length: slots.freeToClaim(url) }, () => slots.take(TENANT, url));

    it('for a failing receiver or a receiver with only 4 slots, freeToClaim equals the number of free slots, so no delivery is claimed before a slot is free', () => {
      attemptOften('a', true, 100);
      assert.deepEqual([slots.freeToClaim('never seen'), slots.freeToClaim('a')], [FIRST_SHARE, FIRST_SHARE]);
      useAll('b', 100);
      attemptOften('b', false, 3);
      assert.equal(slots.freeToClaim('b'), 0);
      nowMs += REST_MS;
      assert.equal(slots.freeToClaim('b'), slots.freeSlots('b'));
    });

    for (const [attemptMs, ahead] of [
      [20, 80],
      [400, 4],
    ] as const) {
      it(`if attempts take ${attemptMs} ms, freeToClaim exceeds the free slots by about ${ahead}, the number of deliveries that 32 slots send in 50 ms (until the next claim)`, () => {
        useAll('a', 200, attemptMs);
        const more = () => slots.freeToClaim('a') - slots.freeSlots('a');
        assert.ok(Math.abs(more() - ahead) <= ahead / 10, `${more()} deliveries may be claimed ahead`);
        claimAll('a');
        assert.equal(slots.freeToClaim('a'), 0);
      });
    }

    it('freeToClaim adds at most 256 deliveries without a slot (they wait for a free slot) for all receivers together', () => {
      ['a', 'b', 'c'].forEach((url) => useAll(url, 100));
      assert.deepEqual([claimAll('a').length, claimAll('b').length], [MAX_SHARE + SLOTS, MAX_SHARE]);
      assert.equal(slots.freeToClaim('c'), MAX_SHARE);
    });

    it('if slotLimit is below the 32 free slots of a receiver, freeToClaim returns slotLimit, otherwise 32 plus the maximum of 256 deliveries that wait for a slot', () => {
      useAll('a', 100);
      assert.equal(slots.freeToClaim('a', MAX_SHARE - 1), MAX_SHARE - 1);
      assert.equal(slots.freeToClaim('a', MAX_SHARE), MAX_SHARE + SLOTS);
    });

    it('if 256 deliveries to a receiver wait for one of its slots, these deliveries reduce neither the free slots of other receivers nor the free slots of the tenant', () => {
      useAll('a', 100);
      assert.equal(claimAll('a').length, MAX_SHARE + SLOTS);
      assert.equal(slots.freeSlots('a'), 0);
      assert.equal(slots.freeSlotsOfTenant(TENANT), HALF - MAX_SHARE);
      assert.equal(fill(numbered('well', 100)).length, SLOTS - MAX_SHARE);
    });

    it('while no slot is free, no further delivery may be claimed, and each end of an attempt begins one waiting delivery', async () => {
      useAll('a', 10);
      const claimed = claimAll('a');
      const begun: Slot[] = [];
      const begin = async (slot: Slot) => void ((await slots.begin(slot)) && begun.push(slot));
      const all = claimed.map(begin);
      fill(numbered('well', 100));
      await Promise.resolve();
      const sendingCount = begun.length;
      assert.ok(sendingCount + 5 <= claimed.length);
      assert.equal(slots.freeToClaim('a'), 0);
      for (let ended = 1; ended <= 5; ended += 1) {
        begun.splice(0, 1).forEach((slot) => slots.end(slot, true));
        await Promise.resolve();
        assert.equal(begun.length, sendingCount);
      }
      slots.dropWaiting();
      await Promise.all(all);
    });
  });

  it('each failure halves the number of slots of a receiver, down to one', () => {
    useAll('a', 100);
    const rooms = [1, 2].map(() => {
      attempt('a', false);
      return slots.freeSlots('a');
    });
    assert.deepEqual(rooms, [16, 8]);
    attemptOften('a', false, 10);
    nowMs += REST_MS;
    assert.equal(slots.freeSlots('a'), 1);
  });

  it('from the third failure in a row on, a receiver gets no slot for 250 ms after each failure, and then one slot', () => {
    attemptOften('a', false, 2);
    assert.equal(slots.freeSlots('a'), 1);
    for (let probe = 0; probe < 3; probe += 1) {
      attempt('a', false);
      assert.equal(slots.freeSlots('a'), 0);
      nowMs += REST_MS - 1;
      assert.equal(slots.freeSlots('a'), 0);
      nowMs += 1;
      assert.equal(slots.freeSlots('a'), 1);
    }
  });

  it('one success ends the pauses of a failing receiver, and its next two failures cause no new pause', () => {
    attemptOften('a', false, 5);
    nowMs += REST_MS;
    attempt('a', true);
    assert.equal(slots.freeSlots('a'), 2);
    attempt('a', false);
    assert.equal(slots.freeSlots('a'), 1);
    attempt('a', false);
    assert.equal(slots.freeSlots('a'), 1);
  });

  it('an attempt with an unknown outcome (isOk is null) changes neither the slots nor the failure count of the receiver', () => {
    useAll('a', 1);
    attempt('a', null);
    assert.equal(slots.freeSlots('a'), FIRST_SHARE + 1);
    attemptOften('b', false, 3);
    nowMs += REST_MS;
    attempt('b', null);
    assert.equal(slots.freeSlots('b'), 1);
    attempt('b', false);
    assert.equal(slots.freeSlots('b'), 0);
  });

  it('freeSlotsOfTenant returns 128 (half of all slots) minus the slots that the tenant has taken for all its receivers, and at least 0', () => {
    assert.equal(slots.freeSlotsOfTenant(TENANT), HALF);
    const taken = fill(numbered('well', 40));
    slots.take(TENANT + 1, 'well-0');
    assert.deepEqual([slots.freeSlotsOfTenant(TENANT), slots.freeSlotsOfTenant(TENANT + 1)], [0, HALF - 1]);
    taken.slice(0, 40).forEach((slot) => slots.release(slot));
    assert.equal(slots.freeSlotsOfTenant(TENANT), HALF - 160 + 40);
  });

  it('all receivers together get 256 sending slots while every receiver is healthy', () => {
    const urls = numbered('well', 100);
    assert.equal(fill(urls).length, SLOTS);
    assert.equal(slots.freeSlots(), 0);
  });

  it('failing receivers together get at most half of the slots, and healthy receivers get the other half', () => {
    const failing = numbered('failing', 300);
    failing.forEach((url) => attemptOften(url, false, 3));
    nowMs += REST_MS;
    assert.equal(fill(failing).length, HALF);
    assert.equal(slots.freeSlots('failing-299'), 0);
    assert.equal(fill(numbered('well', 100)).length, SLOTS - HALF);
    assert.equal(slots.freeSlots(), 0);
  });

  it('a receiver is slow as soon as an attempt takes 500 ms, and slow receivers together get at most half of the slots', () => {
    const slow = numbered('slow', 40);
    const taken = fill(slow);
    assert.equal(taken.length, 160);
    nowMs += SLOW_AFTER_MS - 1;
    assert.equal(slots.freeSlots(), FIRST_SHARE);
    assert.equal(fill(numbered('well', 100)).length, SLOTS - 160);
    nowMs += 1;
    // Now 160 attempts are slow, and healthy receivers have the other 96 of the 256 slots. But healthy receivers may always have half of
    // all slots, which is 128. So they may take 32 more slots.
    const [released] = taken;
    assert.ok(released);
    slots.release(released);
    assert.equal(slots.freeSlots('slow-0'), 0);
    assert.equal(fill(numbered('also well', 100)).length, 32);
  });

  it('if failing receivers take 300 slots, more than the limit of 256 for all receivers, healthy receivers still get 128 slots, which is half of the limit', () => {
    const failing = numbered('failing', 10);
    failing.forEach((url) => attemptOften(url, false, 3));
    nowMs += REST_MS;
    // Simulates several events that are written at the same moment. Each INSERT claims the delivery of its event, because slots are still
    // free. The deliveries take their slots after all INSERTs. Together they take more slots than are free, because `take` never refuses a
    // slot.
    failing.forEach((url) => Array.from({ length: 30 }, () => slots.take(TENANT, url)));
    assert.deepEqual(
      failing.map((url) => slots.freeSlots(url)),
      failing.map(() => 0),
    );
    assert.equal(fill(numbered('well', 100)).length, SLOTS - HALF);
  });

  it('deliveries to a fast receiver may be claimed before a slot is free, even while failing receivers have over half of all slots', () => {
    useAll('fast', 100);
    attemptOften('failing', false, 3);
    Array.from({ length: SLOTS + HALF }, () => slots.take(TENANT, 'failing'));
    assert.equal(slots.freeToClaim('fast'), MAX_SHARE + SLOTS);
    fill(numbered('well', 100));
    assert.equal(slots.freeToClaim('fast'), 0);
  });

  it('a receiver counts as failing from its third failure in a row, and not before', () => {
    attemptOften('failing', false, 3);
    Array.from({ length: HALF }, () => slots.take(TENANT, 'failing'));
    attemptOften('stumbling', false, 2);
    assert.equal(slots.freeSlots('stumbling'), 1);
    attempt('stumbling', false);
    nowMs += REST_MS;
    assert.equal(slots.freeSlots('stumbling'), 0);
  });

  it('a slow receiver counts as healthy again when its last slow attempt has ended', () => {
    attemptOften('failing', false, 3);
    Array.from({ length: HALF }, () => slots.take(TENANT, 'failing'));
    const slow = fill(['slow']);
    nowMs += SLOW_AFTER_MS;
    slow.slice(1).forEach((slot) => slots.end(slot, true));
    assert.equal(slots.freeSlots('slow'), 0);
    slow.slice(0, 1).forEach((slot) => slots.end(slot, true));
    assert.equal(slots.freeSlots('slow'), FIRST_SHARE);
  });

  it('if slow receivers keep their slots and ever more receivers become slow, at most 1,024 deliveries are under way', () => {
    let underWay = 0;
    for (let wave = 0; wave < 20; wave += 1) {
      underWay += fill(numbered(`wave ${wave}`, 100)).length;
      nowMs += SLOW_AFTER_MS;
    }
    assert.equal(underWay, 4 * SLOTS);
    assert.equal(slots.freeSlots(), 0);
  });

  it('if more than 10,000 receivers are used, SendingSlots deletes its data about the receivers unused for longest, except receivers with a delivery under way', () => {
    const held = slots.take(TENANT, 'held');
    slots.take(TENANT, 'held');
    attempt('old', false);
    attempt('recent', false);
    numbered('other', 9_990).forEach((url) => attempt(url, true));
    attempt('recent', false);
    numbered('another', 20).forEach((url) => attempt(url, true));
    assert.equal(slots.freeSlots('old'), FIRST_SHARE);
    assert.equal(slots.freeSlots('recent'), 1);
    assert.equal(slots.freeSlots('held'), FIRST_SHARE - 2);
    slots.release(held);
    assert.equal(slots.freeSlots('held'), FIRST_SHARE - 1);
  });
});
