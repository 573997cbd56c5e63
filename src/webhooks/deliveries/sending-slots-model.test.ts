import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { SendingSlots, type Slot } from './sending-slots.ts';

const SLOTS = 256;
const HALF = 128;
const FIRST_SHARE = 4;
const MAX_SHARE = 32;
const SLOW_AFTER_MS = 500;
const BUSY_FROM = 64;
const FAST_MS = 25;
const REST_MS = 250;
const TENANT = 1;

describe('SendingSlots compared with a simple model', () => {
  // The test clock is a property of the object `performance`. If this property is deleted, calls use the real `now` of the prototype again.
  afterEach(() => void Reflect.deleteProperty(performance, 'now'));

  it('after each random wait or call of `take`, `begin`, `end` or `release`, SendingSlots reports the same free slots for each receiver as a simpler implementation in this test', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150, size: 'max' }), (steps) => {
        let nowMs = 1_000;
        performance.now = () => nowMs;
        const slots = new SendingSlots();
        const model = new NaiveSlots();
        for (const { kind, url, count, pick, isOk } of steps) {
          if (kind === 'wait') {
            nowMs += pick;
          } else if (kind === 'take') {
            Array.from({ length: count }, () => model.take(url, slots.take(TENANT, url), nowMs));
          } else {
            model.some(kind, pick, count).forEach((taken) => {
              if (kind === 'begin') void slots.begin(taken.slot);
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

const URLS = Array.from({ length: 40 }, (_, index) => `url-${index}`);

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
  state: 'taken' | 'waiting' | 'begun';
  /** True if the delivery was claimed before a slot was free. Such a delivery does not count as a taken slot. */
  isAhead: boolean;
  beganAtMs: number;
}

/**
 * Simple model of `SendingSlots` with the same rules. It stores no totals and counts all slots again at each call, so it cannot have a
 * wrong total.
 */
class NaiveSlots {
  readonly #all = new Set<Taken>();
  readonly #known = new Map<string, { share: number; failures: number; restsUntilMs: number; fastestMs: number }>();

  take(url: string, slot: Slot, nowMs: number): void {
    const { share } = this.#of(url);
    const isAhead = share > FIRST_SHARE && !this.#laggingUrls(nowMs).has(url) && this.#slotsOf(url) >= share;
    this.#all.add({ url, slot, state: 'taken', isAhead, beganAtMs: 0 });
  }

  /**
   * Chooses at most `count` slots that one random step of the test changes.
   * @param kind kind of the step. Each kind changes only slots in one state. For example, an `end` changes only slots whose attempt has
   * begun
   * @param pick random number. The method leaves out the first `pick % 50` slots in this state, so that the choice is random
   */
  some(kind: Kind, pick: number, count: number): Taken[] {
    const from = { begin: 'taken', end: 'begun', release: 'taken', take: null, wait: null }[kind];
    return [...this.#all].filter(({ state }) => state === from).slice(pick % 50, (pick % 50) + count);
  }

  change(kind: Kind, taken: Taken, isOk: boolean | null, nowMs: number): void {
    if (kind === 'release') {
      this.#all.delete(taken);
    } else if (kind === 'begin') {
      taken.state = 'waiting';
      // Deletes the delivery and adds it again, so that it becomes the last one in the Set. The Set must have the deliveries in the order
      // in which they began to wait.
      this.#all.delete(taken);
      this.#all.add(taken);
      const hasSlot = !taken.isAhead || this.#begun(taken.url) === 0 || this.#freeOfAll(taken.url, nowMs) > 0;
      if (hasSlot && this.#begun(taken.url) < this.#of(taken.url).share) {
        Object.assign(taken, { state: 'begun', isAhead: false, beganAtMs: nowMs });
      }
      this.#dropWaiting(nowMs);
    } else {
      this.#learn(taken, isOk, nowMs);
      this.#all.delete(taken);
      this.#dropWaiting(nowMs);
      this.#beginNext(taken.url, nowMs);
    }
  }

  #beginNext(url: string, nowMs: number): void {
    const waiting = [...this.#all].filter((taken) => taken.url === url && taken.state === 'waiting');
    for (const [index, taken] of waiting.entries()) {
      const hasSlot = index === 0 || this.#freeOfAll(url, nowMs) > 0;
      if (!hasSlot || this.#begun(url) >= this.#of(url).share) {
        return;
      }
      Object.assign(taken, { state: 'begun', isAhead: false, beganAtMs: nowMs });
    }
  }

  #begun(url: string): number {
    return [...this.#all].filter((taken) => taken.url === url && taken.state === 'begun').length;
  }

  /**
   * Returns the number of slots that deliveries to the receiver have taken. If a delivery was claimed before a slot was free (`isAhead`),
   * it has not taken a slot yet.
   */
  #slotsOf(url: string): number {
    return [...this.#all].filter((taken) => taken.url === url && !taken.isAhead).length;
  }

  /**
   * Returns the slow and failing receivers (`urls`), the number of slots that these receivers have taken (`lagging`), and the number of
   * slots that all other receivers have taken (`well`).
   */
  #totals(nowMs: number) {
    const urls = this.#laggingUrls(nowMs);
    const taken = [...this.#all].filter(({ isAhead }) => !isAhead);
    const lagging = taken.filter(({ url }) => urls.has(url)).length;
    return { urls, lagging, well: taken.length - lagging };
  }

  /**
   * Returns how many more slots the receiver `url` may take if its own share is ignored. If the receiver is lagging (slow or failing), the
   * limit of all lagging receivers together applies. Otherwise the limit of all healthy receivers together applies. Returns 0 during the
   * receiver's pause after a failure.
   */
  #freeOfAll(url: string, nowMs: number, { urls, lagging, well } = this.#totals(nowMs)): number {
    if (nowMs < this.#of(url).restsUntilMs) {
      return 0;
    }
    const left = urls.has(url) ? HALF - lagging : SLOTS - well - Math.min(lagging, HALF);
    return Math.max(0, Math.min(left, 4 * SLOTS - well - lagging));
  }

  /** Removes the waiting deliveries whose receiver is slow or failing, because their attempts must not begin. */
  #dropWaiting(nowMs: number): void {
    const lagging = this.#laggingUrls(nowMs);
    [...this.#all]
      .filter(({ url, state }) => state === 'waiting' && lagging.has(url))
      .forEach((taken) => this.#all.delete(taken));
  }

  #learn({ url, beganAtMs }: Taken, isOk: boolean | null, nowMs: number): void {
    const before = this.#of(url);
    if (isOk === true) {
      const fastestMs = Math.min(nowMs - beganAtMs, before.fastestMs * 1.05);
      const isEnough = this.#totals(nowMs).well >= BUSY_FROM && fastestMs <= FAST_MS;
      this.#known.set(url, { ...before, failures: 0, fastestMs, share: this.#shareAfterSuccess(url, isEnough) });
    } else if (isOk === false) {
      const failures = before.failures + 1;
      const restsUntilMs = nowMs + (failures < 3 ? 0 : REST_MS);
      this.#known.set(url, { ...before, failures, restsUntilMs, share: Math.max(1, Math.floor(before.share / 2)) });
    }
  }

  #shareAfterSuccess(url: string, isEnough: boolean): number {
    const { share } = this.#of(url);
    const used = [...this.#all].filter((taken) => taken.url === url && taken.state === 'begun').length / share;
    const isUnused = share >= FIRST_SHARE && used <= 0.5;
    const change = isUnused ? -1 : share < FIRST_SHARE || (used >= 1 && !isEnough) ? 1 : 0;
    return Math.min(MAX_SHARE, isUnused ? Math.max(FIRST_SHARE, share + change) : share + change);
  }

  #of(url: string) {
    return this.#known.get(url) ?? { share: FIRST_SHARE, failures: 0, restsUntilMs: 0, fastestMs: SLOW_AFTER_MS };
  }

  #laggingUrls(nowMs: number): Set<string> {
    const slow = [...this.#all].filter(
      ({ state, beganAtMs }) => state === 'begun' && nowMs - beganAtMs >= SLOW_AFTER_MS,
    );
    const failing = [...this.#known].filter(([, { failures }]) => failures >= 3);
    return new Set([...slow.map(({ url }) => url), ...failing.map(([url]) => url)]);
  }

  rooms(nowMs: number): number[] {
    this.#dropWaiting(nowMs);
    const totals = this.#totals(nowMs);
    return URLS.map((url) => {
      const aheadCount = [...this.#all].filter((taken) => taken.url === url && taken.isAhead).length;
      const free = this.#freeOfAll(url, nowMs, totals);
      const room = Math.max(0, Math.min(this.#of(url).share - this.#slotsOf(url), free));
      return Math.max(0, room - aheadCount);
    });
  }
}
