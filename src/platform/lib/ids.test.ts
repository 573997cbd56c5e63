import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { derivedId, firstIdAt, isUuid, newId, newIdAt, timeOf } from './ids.ts';

describe('newId', () => {
  it('newId returns a UUIDv7 with the current time', () => {
    const begin = Date.now();
    const id = newId();
    assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    const atMs = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
    assert.ok(atMs >= begin && atMs <= Date.now() + 1);
  });

  it('50,000 calls of newId return different ids, which sort in the order in which they were made', () => {
    const ids = Array.from({ length: 50_000 }, newId);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual([...ids].sort(), ids);
  });

  it('10,000 ids made in one millisecond sort in order, although the counter inside an id has only 4,096 values', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const ids = Array.from({ length: 10_000 }, newId);
    assert.deepEqual([...new Set(ids)].sort(), ids);
  });

  it('an id from newId is greater than the previous id, even if the clock was set back between them', (t) => {
    const first = newId();
    t.mock.timers.enable({ apis: ['Date'], now: 1_000 });
    const second = newId();
    assert.ok(second > first);
  });

  it('the random parts of 1,000 ids from newId are all different', () => {
    const tails = Array.from({ length: 1_000 }, () => newId().slice(19));
    assert.equal(new Set(tails).size, tails.length);
  });
});

describe('newIdAt', () => {
  it('newIdAt returns UUIDv7s with the given time, in the order of the calls, and does not change the times of later ids of newId', (t) => {
    const time = new Date('2030-05-01T10:00:00.123Z');
    const ids = Array.from({ length: 1_000 }, () => newIdAt(time));
    assert.deepEqual([...new Set(ids)].sort(), ids);
    for (const id of ids) {
      assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
      assert.deepEqual(timeOf(id), time);
    }
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 1_000 });
    assert.equal(timeOf(newId()).getTime(), Date.now());
  });
});

describe('firstIdAt', () => {
  it('firstIdAt returns an id that sorts before all ids of its millisecond and after all ids of the previous millisecond', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 1_000 });
    const atMs = Date.now();
    const earlier = newId();
    t.mock.timers.tick(1);
    const later = newId();
    assert.ok(earlier < firstIdAt(atMs + 1) && firstIdAt(atMs + 1) < later);
    assert.ok(firstIdAt(atMs) < earlier);
    assert.equal(firstIdAt(0), '00000000-0000-7000-8000-000000000000');
  });
});

describe('timeOf', () => {
  it('if firstIdAt made an id, timeOf returns the time given to firstIdAt, and if newId made the id, timeOf returns a time not before that call', () => {
    // The test cannot expect the exact time of the call. Every new id is greater than all earlier ids, and earlier tests made ids under a
    // mocked clock that was ahead of the real clock. So the time in the new id may be later than the call.
    const before = Date.now();
    assert.ok(timeOf(newId()).getTime() >= before);
    for (const time of ['1970-01-01T00:00:00.000Z', '2026-11-20T18:42:07.512Z', '9999-12-31T23:59:59.999Z']) {
      assert.equal(timeOf(firstIdAt(Date.parse(time))).toISOString(), time);
    }
  });
});

describe('derivedId', () => {
  const parts = fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 4 });

  it('derivedId returns a UUIDv8, and always returns the same id for the same parts', () => {
    fc.assert(
      fc.property(parts, (given) => {
        const id = derivedId(...given);
        assert.match(id, /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
        assert.equal(derivedId(...given), id);
      }),
    );
  });

  it('derivedId returns different ids for different parts, even if the parts give the same text when they are joined', () => {
    fc.assert(
      fc.property(parts, parts, (some, others) => {
        assert.equal(derivedId(...some) === derivedId(...others), JSON.stringify(some) === JSON.stringify(others));
      }),
    );
    assert.notEqual(derivedId('ab', 'c'), derivedId('a', 'bc'));
    assert.notEqual(derivedId('1'), derivedId(1));
  });
});

describe('isUuid', () => {
  it('isUuid accepts every UUID with hyphens, in lower case and in upper case', () => {
    fc.assert(fc.property(fc.uuid(), (uuid) => isUuid(uuid) && isUuid(uuid.toUpperCase())));
  });

  it('isUuid refuses texts that are not a UUID, and UUIDs without hyphens, in braces or with additional characters', () => {
    const id = newId();
    for (const text of [
      '',
      ' ',
      `${id} `,
      `{${id}}`,
      id.replaceAll('-', ''),
      `${id}0`,
      id.slice(1),
      `${id}\n`,
      'x'.repeat(36),
    ]) {
      assert.equal(isUuid(text), false, text);
    }
  });
});
