import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { newId } from '#platform/lib/ids.ts';
import { lookOf } from '#test/support/streams.ts';
import { LookMemory } from './look-memory.ts';

const BEGIN_MS = 1_763_841_400_000;
const FIRST_BACK_MS = 60_000;
const BACK_MS = 30_000;

describe('LookMemory (changes that the reads of newest rows have shown)', () => {
  let memory: LookMemory;
  beforeEach(() => {
    memory = new LookMemory();
  });

  const ids = (count: number) => Array.from({ length: count }, () => newId());
  const remember = (afterMs: number, orderIds: string[], backMs = BACK_MS) =>
    memory.remember(lookOf(BEGIN_MS + afterMs, orderIds), backMs)?.map(({ orderId }) => orderId) ?? null;
  const since = (afterMs: number) => memory.since(BEGIN_MS + afterMs)?.map(({ orderId }) => orderId) ?? null;

  it('LookMemory.remember returns an empty list for the first read of changes, and for a later read only the changes that no earlier read found', () => {
    const [a, b] = ['a', 'b'];
    assert.deepEqual(remember(0, [a], FIRST_BACK_MS), []);
    assert.deepEqual(remember(500, [b, a]), [b]);
    assert.deepEqual(remember(1_000, [b, a]), []);
  });

  it('LookMemory.since returns the rows that appeared after the given time, or null for a time before the memory begins', () => {
    remember(0, ['a'], FIRST_BACK_MS);
    remember(500, ['b', 'a']);
    assert.deepEqual(since(-20_000), ['a', 'b']);
    assert.deepEqual(since(0), ['b']);
    assert.deepEqual(since(500), []);
    assert.equal(since(-40_000), null, 'the first look does not reach back so far');
  });

  it('if a read is full (200 changes) and no earlier read found its oldest change, LookMemory.remember returns null, and otherwise it returns the new changes', () => {
    const [known] = ids(1);
    remember(0, [known ?? ''], FIRST_BACK_MS);
    const reaching = [...ids(199), known ?? ''];
    assert.equal(remember(500, reaching)?.length, 199);
    assert.equal(remember(1_000, ids(200)), null);
    assert.equal(since(600), null, 'rows may be missing before this look');
    assert.deepEqual(since(1_000), []);
  });

  it('if the previous read of changes was more than 30 s ago, LookMemory.remember returns null, because the reads may have missed changes', () => {
    remember(0, [], FIRST_BACK_MS);
    assert.deepEqual(remember(29_000, ['a']), ['a']);
    assert.equal(remember(60_000, ['b']), null);
    assert.deepEqual(remember(60_500, ['c', 'b']), ['c']);
  });

  it('LookMemory.remember returns a row only once, even if the row is read again and again for five minutes', () => {
    remember(0, [], FIRST_BACK_MS);
    assert.deepEqual(remember(500, ['future']), ['future']);
    for (let second = 1; second < 300; second += 1) {
      assert.deepEqual(remember(second * 1_000, ['future']), []);
    }
  });

  it('if a read gives LookMemory more changes than it can keep, LookMemory.remember returns null for this read, and the new changes for the next read', () => {
    remember(0, [], FIRST_BACK_MS);
    let told: (string | undefined)[] | null = [];
    let last = ids(1);
    for (let look = 1; told !== null && look < 100; look += 1) {
      const fresh = ids(199);
      told = remember(look * 100, [...fresh, ...last]);
      last = fresh.slice(0, 1);
    }
    assert.equal(told, null);
    assert.deepEqual(remember(20_000, ['next']), ['next']);
  });
});
