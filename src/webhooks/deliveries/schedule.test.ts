import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { newId } from '#platform/lib/ids.ts';
import { Schedule } from './schedule.ts';

const CLAIM_SIZE = 200;
const PLACES = 512;
const HALF = PLACES / 2;

describe('the choice of what the next claim takes', () => {
  let schedule: Schedule;
  /** The clock stands still, because a busy machine would make quick attempts slow. */
  let nowMs: number;
  beforeEach(() => {
    nowMs = 5_000;
    mock.method(performance, 'now', () => nowMs);
    schedule = new Schedule(250);
  });
  afterEach(() => mock.restoreAll());

  const urlOf = (tenantId: number, index: number) => `https://receiver.test/${tenantId}/${index}`;

  /** Takes a place, and begins an attempt that was made `agoMs` ago. */
  function begin(tenantId: number, url: string, agoMs = 0) {
    const place = schedule.take(tenantId, url);
    place.begunAtMs -= agoMs;
    return place;
  }

  /** Ends one successful attempt to each of `receivers` receivers of a tenant. It took so long that each receiver may get 32 places. */
  function succeed(tenantId: number, receivers: number, tookMs = 1_000): void {
    for (let index = 0; index < receivers; index += 1) {
      schedule.end(begin(tenantId, urlOf(tenantId, index), tookMs), true);
    }
  }

  /** Adds a queue for each of `receivers` credentials of a tenant. Each credential has its own receiver. */
  function wait(tenantId: number, receivers: number, isActive = true): void {
    for (let index = 0; index < receivers; index += 1) {
      schedule.add({ tenantId, credentialId: newId(), webhookUrl: isActive ? urlOf(tenantId, index) : '' });
    }
  }

  /** Makes one claim after the other until none takes anything. All deliveries that the claims want are due. */
  function claimAll(again = true) {
    const taken = [];
    for (let chosen = schedule.choose(); chosen.length > 0; ) {
      for (const { tenantId, webhookUrl, count } of chosen) {
        taken.push(...Array.from({ length: count }, () => begin(tenantId, webhookUrl)));
      }
      if (!again) {
        break;
      }
      chosen.forEach((queue) => schedule.add(queue));
      chosen = schedule.choose();
    }
    return taken;
  }

  const countOf = (taken: { tenantId: number }[], of: number) => taken.filter(({ tenantId }) => tenantId === of).length;

  it('a claim takes 200 deliveries, an equal number for each of ten receivers', () => {
    succeed(1, 10);
    wait(1, 10);
    const chosen = schedule.choose();
    assert.deepEqual(
      chosen.map(({ count }) => count),
      Array.from({ length: 10 }, () => CLAIM_SIZE / 10),
    );
    assert.deepEqual(schedule.choose(), []);
  });

  it('a new receiver gets 2 places until its first success, and then 32 if it is slow', () => {
    wait(1, 1);
    const [first] = claimAll();
    assert.ok(first);
    assert.equal(schedule.taken, 2);
    first.begunAtMs -= 1_000;
    schedule.end(first, true);
    claimAll();
    assert.equal(schedule.taken, 32);
  });

  /** Takes all places for one quick receiver. Returns them, and whether each may begin once that is known. */
  async function fillQuickReceiver() {
    succeed(1, 1, 10);
    wait(1, 1);
    const places = claimAll();
    const answers: boolean[] = [];
    places.forEach(({ mayBegin }) => void mayBegin.promise.then((answer) => answers.push(answer)));
    await nextTurn();
    return { places, answers };
  }

  it('a quick receiver that waits alone gets all 512 places and 32 attempts at once, and the others are given back when it fails three times', async () => {
    const { places, answers } = await fillQuickReceiver();
    assert.equal(places.length, PLACES);
    assert.equal(answers.length, 32);
    places.slice(0, 3).forEach((place) => schedule.end(place, false));
    await nextTurn();
    assert.equal(answers.length, PLACES);
    assert.equal(answers.filter((mayBegin) => mayBegin).length, 34);
  });

  it('what was claimed ahead for a quick receiver is given back when an attempt takes over 100 ms', async () => {
    const { places, answers } = await fillQuickReceiver();
    (places[0] as { begunAtMs: number }).begunAtMs -= 150;
    schedule.choose();
    await nextTurn();
    assert.equal(answers.length, PLACES);
    assert.equal(answers.filter((mayBegin) => mayBegin).length, 32);
    // Otherwise each turn would claim the same deliveries and give them back.
    places.slice(32).forEach((place) => schedule.end(place, null));
    wait(1, 1);
    assert.deepEqual(schedule.choose(), []);
  });

  it('while 50 quick receivers wait, each gets a fiftieth of the places and two attempts at once', () => {
    succeed(1, 50, 10);
    wait(1, 50);
    const placesOf = Map.groupBy(claimAll(), ({ receiver }) => receiver);
    for (const [receiver, { length }] of placesOf) {
      assert.ok(length >= 8 && length <= 12, String(length));
      assert.equal(receiver.underWay.size, 2);
    }
  });

  it('a quick receiver gets more than two attempts at once after successes that took a second together', () => {
    succeed(1, 50, 10);
    wait(1, 50);
    const places = claimAll();
    const [{ receiver } = assert.fail()] = places;
    const endSlow = () => {
      const [place = assert.fail()] = receiver.underWay;
      place.begunAtMs -= 250;
      schedule.end(place, true);
    };
    [1, 2, 3].forEach(endSlow);
    assert.equal(receiver.underWay.size, 2);
    endSlow();
    const { length } = places.filter((place) => place.receiver === receiver);
    assert.equal(receiver.underWay.size, length - 4);
  });

  it('a quick receiver gets more than two attempts at once while two take over a second', () => {
    succeed(1, 50, 10);
    wait(1, 50);
    const places = claimAll();
    const [{ receiver } = assert.fail()] = places;
    nowMs += 1_100;
    schedule.choose();
    places.filter((place) => !place.receiver.underWay.has(place)).forEach((place) => schedule.end(place, null));
    assert.equal(receiver.underWay.size, 2);
    wait(1, 1);
    claimAll();
    assert.ok(receiver.underWay.size > 2, String(receiver.underWay.size));
  });

  it('one receiver gets 32 places, and a tenant with 300 receivers gets all 512 places while no other tenant waits', () => {
    succeed(1, 1);
    wait(1, 1);
    assert.equal(claimAll().length, 32);
    wait(2, 300);
    assert.equal(claimAll().length, PLACES - 32);
  });

  it('of two tenants with 200 receivers each, none gets more than half of all places, and a small tenant gets its places', () => {
    wait(1, 200);
    wait(2, 200);
    wait(3, 1);
    const taken = claimAll();
    const counts = [1, 2, 3].map((tenantId) => countOf(taken, tenantId));
    assert.equal(taken.length, PLACES);
    assert.ok(Math.max(...counts) <= HALF && Math.min(...counts) >= 1, counts.join());
  });

  it('if one tenant has all places and a second tenant begins to wait, the second tenant gets the next free place', () => {
    wait(1, 300);
    const taken = claimAll();
    assert.equal(taken.length, PLACES);
    wait(2, 1);
    assert.equal(claimAll(false).length, 0);
    taken.slice(0, 1).forEach((place) => schedule.end(place, true));
    assert.deepEqual(
      claimAll(false).map(({ tenantId }) => tenantId),
      [2],
    );
  });

  it('deliveries of a revoked credential are stopped even while all places are taken', () => {
    wait(1, 300);
    claimAll();
    wait(1, 1, false);
    assert.equal(schedule.choose().length, 1);
  });

  it('receivers that fail three times take at most half of all places, and one place each', () => {
    wait(1, 300);
    for (let failures = 0; failures < 3; failures += 1) {
      for (let index = 0; index < 300; index += 1) {
        schedule.end(begin(1, urlOf(1, index)), false);
      }
    }
    assert.equal(claimAll().length, 0, 'each receiver rests after its failure');
    schedule = new Schedule(0);
    wait(1, 300);
    for (let index = 0; index < 900; index += 1) {
      schedule.end(begin(1, urlOf(1, index % 300)), false);
    }
    const taken = claimAll();
    assert.equal(taken.length, HALF);
    assert.equal(new Set(taken.map(({ receiver }) => receiver)).size, HALF);
  });

  it('while attempts that hang hold all places, other receivers get half of the places', () => {
    succeed(1, 16);
    wait(1, 16);
    assert.equal(claimAll().length, PLACES);
    nowMs = 6_100;
    succeed(2, 10);
    wait(2, 10);
    assert.equal(claimAll().length, HALF);
  });

  it('a receiver with slow attempts lags until they have ended', () => {
    succeed(1, 16);
    const slow = Array.from({ length: 16 }, (_, index) => begin(1, urlOf(1, index)));
    nowMs = 6_500;
    wait(1, 16);
    const taken = claimAll();
    assert.equal(taken.length, HALF - 16);
    [...slow, ...taken].forEach((place) => schedule.end(place, true));
    assert.equal(claimAll().length, PLACES);
  });
});
