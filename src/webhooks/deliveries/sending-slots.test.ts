import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
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

  /** Replaces the clock. The time changes only if a test changes `nowMs`, so no test waits, and a slow machine cannot change a result. */
  beforeEach(() => {
    nowMs = 1_000;
    performance.now = () => nowMs;
    slots = new SendingSlots();
  });
  afterEach(() => {
    // The replaced clock is a property of the object `performance`. Without this property, the real `now` of the prototype is used again.
    Reflect.deleteProperty(performance, 'now');
  });

  function attempt(url: string, isOk: boolean | null): void {
    const slot = slots.take(TENANT, url);
    slots.begin(slot);
    slots.end(slot, isOk);
    slots.release(slot);
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
      taken.forEach((slot) => slots.begin(slot));
      return taken;
    });
  }

  /** Uses all slots of a receiver at the same time for successful attempts, and repeats this `count` times. */
  function useAll(url: string, count: number): void {
    for (let done = 0; done < count; done += 1) {
      const taken = fill([url]);
      taken.forEach((slot) => slots.end(slot, true));
      taken.forEach((slot) => slots.release(slot));
    }
  }

  it('a receiver has 4 slots at first, gets one more at each success while it uses all its slots, and has at most 32', () => {
    assert.equal(slots.freeSlots('never seen'), FIRST_SHARE);
    assert.equal(slots.freeSlots(), FIRST_SHARE);
    useAll('a', 1);
    assert.equal(slots.freeSlots('a'), FIRST_SHARE + 1);
    useAll('a', 100);
    assert.equal(slots.freeSlots('a'), MAX_SHARE);
    assert.equal(slots.freeSlots('b'), FIRST_SHARE);
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

  it('a slot stays taken after the end of its attempt until it is released', () => {
    const slot = slots.take(TENANT, 'a');
    slots.begin(slot);
    slots.end(slot, null);
    assert.equal(slots.freeSlots('a'), FIRST_SHARE - 1);
    slots.release(slot);
    assert.equal(slots.freeSlots('a'), FIRST_SHARE);
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

  it('an attempt without a success or failure of the receiver changes neither the number of slots nor the failure count of the receiver', () => {
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

  it('freeSlotsOfTenant returns half of all slots minus the unreleased slots of all receivers of the tenant, and at least 0', () => {
    assert.equal(slots.freeSlotsOfTenant(TENANT), HALF);
    const taken = fill(numbered('well', 40));
    slots.take(TENANT + 1, 'well-0');
    assert.deepEqual([slots.freeSlotsOfTenant(TENANT), slots.freeSlotsOfTenant(TENANT + 1)], [0, HALF - 1]);
    taken.slice(0, 40).forEach((slot) => slots.release(slot));
    assert.equal(slots.freeSlotsOfTenant(TENANT), HALF - 160 + 40);
  });

  it('there are 256 slots in all while every receiver is healthy', () => {
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
    // Now 160 attempts are slow, more than half of all slots (128). The healthy receivers have 96 slots, and may take 32 more.
    const [released] = taken;
    assert.ok(released);
    slots.release(released);
    assert.equal(slots.freeSlots('slow-0'), 0);
    assert.equal(fill(numbered('also well', 100)).length, 32);
  });

  it('healthy receivers keep their half of the slots even if failing receivers hold more than the other half', () => {
    const failing = numbered('failing', 10);
    failing.forEach((url) => attemptOften(url, false, 3));
    nowMs += REST_MS;
    // If several INSERTs claim events at the same moment, they take more slots than are free, because `take` never refuses a slot.
    failing.forEach((url) => Array.from({ length: 30 }, () => slots.take(TENANT, url)));
    assert.deepEqual(
      failing.map((url) => slots.freeSlots(url)),
      failing.map(() => 0),
    );
    assert.equal(fill(numbered('well', 100)).length, SLOTS - HALF);
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
    slow.slice(1).forEach((slot) => {
      slots.end(slot, true);
      slots.release(slot);
    });
    assert.equal(slots.freeSlots('slow'), 0);
    slow.slice(0, 1).forEach((slot) => {
      slots.end(slot, true);
      slots.release(slot);
    });
    assert.equal(slots.freeSlots('slow'), FIRST_SHARE);
  });

  it('at most 1,024 slots are taken while more and more receivers become slow', () => {
    let underWay = 0;
    for (let wave = 0; wave < 20; wave += 1) {
      underWay += fill(numbered(`wave ${wave}`, 100)).length;
      nowMs += SLOW_AFTER_MS;
    }
    assert.equal(underWay, 4 * SLOTS);
    assert.equal(slots.freeSlots(), 0);
  });

  it('with more than 10,000 receivers, the state of the least recently used receiver without a delivery under way is removed', () => {
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

  it('after a random sequence of takes, attempts, releases and waits, each receiver has as many free slots as in a simple model', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150, size: 'max' }), (steps) => {
        nowMs = 1_000;
        slots = new SendingSlots();
        const model = new NaiveSlots();
        for (const { kind, url, count, pick, isOk } of steps) {
          if (kind === 'wait') {
            nowMs += pick;
          } else if (kind === 'take') {
            Array.from({ length: count }, () => model.take(url, slots.take(TENANT, url)));
          } else {
            model.some(kind, pick, count).forEach((taken) => {
              if (kind === 'begin') slots.begin(taken.slot);
              if (kind === 'end') slots.end(taken.slot, isOk);
              if (kind === 'release') slots.release(taken.slot);
              model.change(kind, taken, isOk, nowMs);
            });
          }
          const rooms = URLS.map((each) => slots.freeSlots(each));
          assert.deepEqual(rooms, model.rooms(nowMs));
        }
      }),
      { numRuns: 200 },
    );
  });
});

const URLS = numbered('url', 40);

type Kind = 'take' | 'begin' | 'end' | 'release' | 'wait';

const step = fc.record({
  kind: fc.constantFrom<Kind>('take', 'take', 'begin', 'begin', 'end', 'release', 'wait'),
  url: fc.constantFrom(...URLS),
  count: fc.nat(40),
  pick: fc.nat(SLOW_AFTER_MS + 100),
  isOk: fc.constantFrom(true, false, false, null),
});

interface Taken {
  url: string;
  slot: Slot;
  state: 'taken' | 'begun' | 'ended';
  beganAtMs: number;
}

/** Simple model of `SendingSlots` with the same rules. The model stores no totals, because it counts all slots again at each call. */
class NaiveSlots {
  readonly #all = new Set<Taken>();
  readonly #known = new Map<string, { share: number; failures: number; restsUntilMs: number }>();

  take(url: string, slot: Slot): void {
    this.#all.add({ url, slot, state: 'taken', beganAtMs: 0 });
  }

  /**
   * Returns up to `count` of the slots in whose state the given step is allowed. The step `release` is also allowed for a slot whose attempt
   * never began.
   */
  some(kind: Kind, pick: number, count: number): Taken[] {
    const from = { begin: ['taken'], end: ['begun'], release: ['taken', 'ended'], take: [], wait: [] }[
      kind
    ] as string[];
    return [...this.#all].filter(({ state }) => from.includes(state)).slice(pick % 50, (pick % 50) + count);
  }

  change(kind: Kind, taken: Taken, isOk: boolean | null, nowMs: number): void {
    if (kind === 'release') {
      this.#all.delete(taken);
    } else if (kind === 'begin') {
      Object.assign(taken, { state: 'begun', beganAtMs: nowMs });
    } else {
      taken.state = 'ended';
      this.#learn(taken.url, isOk, nowMs);
    }
  }

  #learn(url: string, isOk: boolean | null, nowMs: number): void {
    const before = this.#of(url);
    if (isOk === true) {
      this.#known.set(url, { ...before, failures: 0, share: this.#shareAfterSuccess(url) });
    } else if (isOk === false) {
      const failures = before.failures + 1;
      const restsUntilMs = nowMs + (failures < 3 ? 0 : REST_MS);
      this.#known.set(url, { failures, restsUntilMs, share: Math.max(1, Math.floor(before.share / 2)) });
    }
  }

  #shareAfterSuccess(url: string): number {
    const { share } = this.#of(url);
    const used = [...this.#all].filter((taken) => taken.url === url).length / share;
    const isUnused = share >= FIRST_SHARE && used <= 0.5;
    const change = isUnused ? -1 : share < FIRST_SHARE || used >= 1 ? 1 : 0;
    return Math.min(MAX_SHARE, isUnused ? Math.max(FIRST_SHARE, share + change) : share + change);
  }

  #of(url: string) {
    return this.#known.get(url) ?? { share: FIRST_SHARE, failures: 0, restsUntilMs: 0 };
  }

  rooms(nowMs: number): number[] {
    const byUrl = Map.groupBy(this.#all, ({ url }) => url);
    const isSlow = ({ state, beganAtMs }: Taken) => state === 'begun' && nowMs - beganAtMs >= SLOW_AFTER_MS;
    const isLagging = (url: string) => this.#of(url).failures >= 3 || byUrl.get(url)?.some(isSlow) === true;
    const countOf = (urls: string[]) => urls.reduce((sum, url) => sum + (byUrl.get(url)?.length ?? 0), 0);
    const lagging = countOf(URLS.filter(isLagging));
    const well = countOf(URLS) - lagging;
    return URLS.map((url) => {
      const { share, restsUntilMs } = this.#of(url);
      const left = isLagging(url) ? HALF - lagging : SLOTS - well - Math.min(lagging, HALF);
      const room = Math.min(share - countOf([url]), left, 4 * SLOTS - well - lagging);
      return nowMs < restsUntilMs ? 0 : Math.max(0, room);
    });
  }
}
