import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { SendingSlots, type Slot } from './sending-slots.ts';

const SLOTS = 256;
const HALF = 128;
const FIRST_SHARE = 4;
const MAX_SHARE = 32;
const LINGERING_MS = 500;
const REST_MS = 250;

const TENANT = 1;
const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`);

describe('the sending slots', () => {
  let nowMs = 0;
  let slots: SendingSlots;

  /** A clock that stands still until it is moved: nothing here waits, and no slow machine changes an outcome. */
  beforeEach(() => {
    nowMs = 1_000;
    performance.now = () => nowMs;
    slots = new SendingSlots();
  });
  afterEach(() => {
    Reflect.deleteProperty(performance, 'now'); // The real one is its prototype's.
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

  /** As deliveries are sent: as many as there is room for. */
  function fill(urls: string[]): Slot[] {
    return urls.flatMap((url) => {
      const taken = Array.from({ length: slots.room(url) }, () => slots.take(TENANT, url));
      taken.forEach((slot) => slots.begin(slot));
      return taken;
    });
  }

  /** A rush that uses all the receiver has, so many times. */
  function useAll(url: string, count: number): void {
    for (let done = 0; done < count; done += 1) {
      const taken = fill([url]);
      taken.forEach((slot) => slots.end(slot, true));
      taken.forEach((slot) => slots.release(slot));
    }
  }

  it('give a receiver four at first, one more with a success while it uses all, and 32 at most', () => {
    assert.equal(slots.room('never seen'), FIRST_SHARE);
    assert.equal(slots.room(), FIRST_SHARE);
    useAll('a', 1);
    assert.equal(slots.room('a'), FIRST_SHARE + 1);
    useAll('a', 100);
    assert.equal(slots.room('a'), MAX_SHARE);
    assert.equal(slots.room('b'), FIRST_SHARE);
  });

  it('do not grow unused, and go back to four, one by one, when the rush is over', () => {
    attemptOften('a', true, 100);
    assert.equal(slots.room('a'), FIRST_SHARE);
    useAll('a', 100);
    attempt('a', true);
    assert.equal(slots.room('a'), MAX_SHARE - 1);
    attemptOften('a', true, 100);
    assert.equal(slots.room('a'), FIRST_SHARE);
  });

  it('give a receiver, however many registered its URL, one share: what is under way to it is taken off', () => {
    const [first] = [slots.take(TENANT, 'a'), slots.take(TENANT, 'a'), slots.take(TENANT, 'a')];
    assert.equal(slots.room('a'), FIRST_SHARE - 3);
    slots.take(TENANT, 'a');
    slots.take(TENANT, 'a');
    assert.equal(slots.room('a'), 0);
    assert.ok(first);
    slots.release(first);
    assert.equal(slots.room('a'), 0);
    assert.equal(slots.room('b'), FIRST_SHARE);
  });

  it('hold a slot until it is released, not until the answer', () => {
    const slot = slots.take(TENANT, 'a');
    slots.begin(slot);
    slots.end(slot, null);
    assert.equal(slots.room('a'), FIRST_SHARE - 1);
    slots.release(slot);
    assert.equal(slots.room('a'), FIRST_SHARE);
  });

  it('are halved with each failure, down to one', () => {
    useAll('a', 100);
    const rooms = [1, 2].map(() => {
      attempt('a', false);
      return slots.room('a');
    });
    assert.deepEqual(rooms, [16, 8]);
    attemptOften('a', false, 10);
    nowMs += REST_MS;
    assert.equal(slots.room('a'), 1);
  });

  it('rest after the third failure in a row, let one attempt through, and rest again', () => {
    attemptOften('a', false, 2);
    assert.equal(slots.room('a'), 1);
    for (let probe = 0; probe < 3; probe += 1) {
      attempt('a', false);
      assert.equal(slots.room('a'), 0);
      nowMs += REST_MS - 1;
      assert.equal(slots.room('a'), 0);
      nowMs += 1;
      assert.equal(slots.room('a'), 1);
    }
  });

  it('open again with the first success, without a rest', () => {
    attemptOften('a', false, 5);
    nowMs += REST_MS;
    attempt('a', true);
    assert.equal(slots.room('a'), 2);
    attempt('a', false);
    assert.equal(slots.room('a'), 1);
    attempt('a', false);
    assert.equal(slots.room('a'), 1);
  });

  it('learn nothing from an outcome that says nothing', () => {
    useAll('a', 1);
    attempt('a', null);
    assert.equal(slots.room('a'), FIRST_SHARE + 1);
    attemptOften('b', false, 3);
    nowMs += REST_MS;
    attempt('b', null);
    assert.equal(slots.room('b'), 1);
    attempt('b', false);
    assert.equal(slots.room('b'), 0);
  });

  it("are by half each tenant's own, counted over all its receivers until they are released", () => {
    assert.equal(slots.roomOfTenant(TENANT), HALF);
    const taken = fill(numbered('well', 40));
    slots.take(TENANT + 1, 'well-0');
    assert.deepEqual([slots.roomOfTenant(TENANT), slots.roomOfTenant(TENANT + 1)], [0, HALF - 1]);
    taken.slice(0, 40).forEach((slot) => slots.release(slot));
    assert.equal(slots.roomOfTenant(TENANT), HALF - 160 + 40);
  });

  it('are 256 in all where everybody is well', () => {
    const urls = numbered('well', 100);
    assert.equal(fill(urls).length, SLOTS);
    assert.equal(slots.room(), 0);
  });

  it('go to receivers that fail by half at most, and to the others by half at least', () => {
    const failing = numbered('failing', 300);
    failing.forEach((url) => attemptOften(url, false, 3));
    nowMs += REST_MS;
    assert.equal(fill(failing).length, HALF);
    assert.equal(slots.room('failing-299'), 0);
    assert.equal(fill(numbered('well', 100)).length, SLOTS - HALF);
    assert.equal(slots.room(), 0);
  });

  it('go to receivers that linger by half at most, from 500 ms on', () => {
    const lingering = numbered('lingering', 40);
    const taken = fill(lingering);
    assert.equal(taken.length, 160);
    nowMs += LINGERING_MS - 1;
    assert.equal(slots.room(), FIRST_SHARE);
    assert.equal(fill(numbered('well', 100)).length, SLOTS - 160);
    nowMs += 1;
    // 160 linger now, though half of all would be 128; the 96 that are well may have 32 more.
    const [released] = taken;
    assert.ok(released);
    slots.release(released);
    assert.equal(slots.room('lingering-0'), 0);
    assert.equal(fill(numbered('as well', 100)).length, 32);
  });

  it('leave the others their half even where more is under way to lagging ones than their half', () => {
    const failing = numbered('failing', 10);
    failing.forEach((url) => attemptOften(url, false, 3));
    nowMs += REST_MS;
    // Born claimed: they were promised a slot each, many at a moment, and cannot be refused.
    failing.forEach((url) => Array.from({ length: 30 }, () => slots.take(TENANT, url)));
    assert.deepEqual(
      failing.map((url) => slots.room(url)),
      failing.map(() => 0),
    );
    assert.equal(fill(numbered('well', 100)).length, SLOTS - HALF);
  });

  it('take no receiver for a failing one before its third failure in a row', () => {
    attemptOften('failing', false, 3);
    Array.from({ length: HALF }, () => slots.take(TENANT, 'failing'));
    attemptOften('stumbling', false, 2);
    assert.equal(slots.room('stumbling'), 1);
    attempt('stumbling', false);
    nowMs += REST_MS;
    assert.equal(slots.room('stumbling'), 0);
  });

  it('take a receiver for well again as soon as nothing of it lingers', () => {
    attemptOften('failing', false, 3);
    Array.from({ length: HALF }, () => slots.take(TENANT, 'failing'));
    const slow = fill(['slow']);
    nowMs += LINGERING_MS;
    slow.slice(1).forEach((slot) => {
      slots.end(slot, true);
      slots.release(slot);
    });
    assert.equal(slots.room('slow'), 0);
    slow.slice(0, 1).forEach((slot) => {
      slots.end(slot, true);
      slots.release(slot);
    });
    assert.equal(slots.room('slow'), FIRST_SHARE);
  });

  it('end at 1,024, however many turn slow at once', () => {
    let underWay = 0;
    for (let wave = 0; wave < 20; wave += 1) {
      underWay += fill(numbered(`wave ${wave}`, 100)).length;
      nowMs += LINGERING_MS;
    }
    assert.equal(underWay, 4 * SLOTS);
    assert.equal(slots.room(), 0);
  });

  it('remember 10,000 receivers, forget those longest unused, and none with something under way', () => {
    const held = slots.take(TENANT, 'held');
    slots.take(TENANT, 'held');
    attempt('old', false);
    attempt('recent', false);
    numbered('other', 9_990).forEach((url) => attempt(url, true));
    attempt('recent', false);
    numbered('another', 20).forEach((url) => attempt(url, true));
    assert.equal(slots.room('old'), FIRST_SHARE);
    assert.equal(slots.room('recent'), 1);
    assert.equal(slots.room('held'), FIRST_SHARE - 2);
    slots.release(held);
    assert.equal(slots.room('held'), FIRST_SHARE - 1);
  });

  it('keep their sums right, whatever happens in whatever order', () => {
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
          const rooms = URLS.map((each) => slots.room(each));
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
  pick: fc.nat(LINGERING_MS + 100),
  isOk: fc.constantFrom(true, false, false, null),
});

interface Taken {
  url: string;
  slot: Slot;
  state: 'taken' | 'begun' | 'ended';
  beganAtMs: number;
}

/** The same rules, with everything counted again whenever it is asked for. */
class NaiveSlots {
  readonly #all = new Set<Taken>();
  readonly #known = new Map<string, { share: number; failures: number; restsUntilMs: number }>();

  take(url: string, slot: Slot): void {
    this.#all.add({ url, slot, state: 'taken', beganAtMs: 0 });
  }

  /** Some of those that this may be done to; a slot may be released without ever having begun. */
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
    const isLingering = ({ state, beganAtMs }: Taken) => state === 'begun' && nowMs - beganAtMs >= LINGERING_MS;
    const isLagging = (url: string) => this.#of(url).failures >= 3 || byUrl.get(url)?.some(isLingering) === true;
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
