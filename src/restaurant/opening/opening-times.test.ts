import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { OpeningHours, openingStateAt } from './opening.ts';
import type { OpeningHoursDocument } from './schema.ts';

type OpeningTime = OpeningHoursDocument['hours'][number];

/** Makes an opening time from a text such as `5 18:30-01:00` (Friday from 18:30 to 01:00). */
function timeOf(text: string): OpeningTime {
  const [, weekday, opens = '', closes = ''] = /^(\d) (\S+)-(\S+)$/.exec(text) ?? [];
  return { weekday: Number(weekday), opens, closes };
}

const hoursOf = (timezone: string, ...texts: string[]) => new OpeningHours(texts.map(timeOf), timezone);
const iso = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString().replace('.000Z', 'Z'));
/** Every day from 12:00 to 15:00. */
const LUNCH = [1, 2, 3, 4, 5, 6, 7].map((day) => `${day} 12:00-15:00`);
const ALWAYS: string[] = [];

/**
 * Name of the case, time zone, opening hours, a time `at`, and the time `opensAt` at which the restaurant opens next. If the restaurant is
 * open at the time `at`, `opensAt` equals `at`. `opensAt` is null if the next opening cannot be calculated.
 */
type Case = [what: string, timezone: string, hours: string[], at: string, opensAt: string | null];

// 20 November 2026 is a Friday, which is the weekday 5 in opening hours.
const CASES: Case[] = [
  ['no hours', 'UTC', ALWAYS, '2026-11-20T03:00:00Z', '2026-11-20T03:00:00Z'],
  ['the first moment', 'UTC', LUNCH, '2026-11-20T12:00:00Z', '2026-11-20T12:00:00Z'],
  ['a second before the first moment', 'UTC', LUNCH, '2026-11-20T11:59:59Z', '2026-11-20T12:00:00Z'],
  ['the last second', 'UTC', LUNCH, '2026-11-20T14:59:59Z', '2026-11-20T14:59:59Z'],
  ['the end', 'UTC', LUNCH, '2026-11-20T15:00:00Z', '2026-11-21T12:00:00Z'],
  ['a zone west of UTC', 'America/New_York', LUNCH, '2026-11-20T16:00:00Z', '2026-11-20T17:00:00Z'],
  [
    'a zone whose day is the next one',
    'Pacific/Kiritimati',
    ['6 12:00-15:00'],
    '2026-11-20T22:30:00Z',
    '2026-11-20T22:30:00Z',
  ],
  ['another weekday', 'UTC', ['1 12:00-15:00'], '2026-11-20T12:30:00Z', '2026-11-23T12:00:00Z'],
  ['the same weekday of the next week', 'UTC', ['5 12:00-15:00'], '2026-11-20T15:00:00Z', '2026-11-27T12:00:00Z'],
  ['after midnight', 'UTC', ['5 18:30-01:00'], '2026-11-21T00:59:59Z', '2026-11-21T00:59:59Z'],
  ['the end after midnight', 'UTC', ['5 18:30-01:00'], '2026-11-21T01:00:00Z', '2026-11-27T18:30:00Z'],
  ['Sunday to Monday', 'UTC', ['7 20:00-04:00'], '2026-11-23T03:00:00Z', '2026-11-23T03:00:00Z'],
  ['an early hour before the day opens', 'UTC', ['5 18:30-01:00'], '2026-11-20T00:30:00Z', '2026-11-20T18:30:00Z'],
  ['until midnight', 'UTC', ['5 18:00-00:00'], '2026-11-20T23:59:59Z', '2026-11-20T23:59:59Z'],
  ['midnight', 'UTC', ['5 18:00-00:00'], '2026-11-21T00:00:00Z', '2026-11-27T18:00:00Z'],
  ['equal times, which are 24 hours', 'UTC', ['5 09:00-09:00'], '2026-11-21T08:59:59Z', '2026-11-21T08:59:59Z'],
  ['overlapping times', 'UTC', ['5 12:00-15:00', '5 14:00-18:00'], '2026-11-20T15:00:00Z', '2026-11-20T15:00:00Z'],
  // Lisbon: on 29 March 2026, 01:00 becomes 02:00. On 25 October 2026, 02:00 becomes 01:00.
  ['the day of a clock change forward', 'Europe/Lisbon', LUNCH, '2026-03-29T10:59:59Z', '2026-03-29T11:00:00Z'],
  ['the day before a clock change forward', 'Europe/Lisbon', LUNCH, '2026-03-28T15:00:00Z', '2026-03-29T11:00:00Z'],
  [
    'an opening in the skipped hour',
    'Europe/Lisbon',
    ['7 01:30-03:00'],
    '2026-03-29T01:00:00Z',
    '2026-03-29T01:30:00Z',
  ],
  ['a closing in the skipped hour', 'Europe/Lisbon', ['6 22:00-01:30'], '2026-03-29T01:29:59Z', '2026-03-29T01:29:59Z'],
  [
    'after a closing in the skipped hour',
    'Europe/Lisbon',
    ['6 22:00-01:30'],
    '2026-03-29T01:30:00Z',
    '2026-04-04T21:00:00Z',
  ],
  [
    'a time that lies in the skipped hour',
    'Europe/Lisbon',
    ['7 01:10-01:50'],
    '2026-03-29T01:20:00Z',
    '2026-03-29T01:20:00Z',
  ],
  [
    'a time that a clock change makes empty',
    'Europe/Lisbon',
    ['7 01:50-02:20'],
    '2026-03-29T00:00:00Z',
    '2026-04-05T00:50:00Z',
  ],
  ['the day of a clock change back', 'Europe/Lisbon', LUNCH, '2026-10-25T11:59:59Z', '2026-10-25T12:00:00Z'],
  ['a closing that occurs twice', 'Europe/Lisbon', ['6 22:00-01:30'], '2026-10-25T00:30:00Z', '2026-10-31T22:00:00Z'],
  ['an opening that occurs twice', 'Europe/Lisbon', ['7 01:30-03:00'], '2026-10-25T00:29:59Z', '2026-10-25T00:30:00Z'],
  ['the repeated hour', 'Europe/Lisbon', ['7 00:30-03:00'], '2026-10-25T01:30:00Z', '2026-10-25T01:30:00Z'],
  ['no calendar day after year 9999', 'UTC', ['5 12:00-15:00'], '9999-12-31T23:00:00Z', null],
];

describe('OpeningHours', () => {
  for (const [what, timezone, hours, at, opensAt] of CASES) {
    it(`nextOpening returns ${opensAt} in the case: ${what}`, () =>
      assert.equal(iso(hoursOf(timezone, ...hours).nextOpening(Date.parse(at))), opensAt));
  }

  it('nextOpening returns the same for an OpeningHours with cached opening times as for a new one', () => {
    const times = fc.array(
      fc.record({ weekday: fc.integer({ min: 1, max: 7 }), opens: clockTime(), closes: clockTime() }),
      { minLength: 1, maxLength: 6 },
    );
    const moments = fc.array(fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2027-01-01') }), {
      minLength: 2,
      maxLength: 6,
    });
    fc.assert(
      fc.property(times, moments, (hours, asked) => {
        const kept = new OpeningHours(hours, 'Europe/Lisbon');
        for (const atMs of asked.flatMap((ms) => [ms, ms + 3_600_000])) {
          const fresh = new OpeningHours(hours, 'Europe/Lisbon');
          const next = kept.nextOpening(atMs);
          assert.equal(next, fresh.nextOpening(atMs));
          assert.ok(next !== null && new OpeningHours(hours, 'Europe/Lisbon').nextOpening(next) === next);
        }
      }),
      { numRuns: 50 },
    );
  });
});

function clockTime(): fc.Arbitrary<string> {
  const two = (max: number) => fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, '0'));
  return fc.tuple(two(23), two(59)).map((parts) => parts.join(':'));
}

describe('openingStateAt', () => {
  const at = '2026-11-20T12:30:00Z';
  const OPEN = { isOpen: true, isPaused: false, reopensAt: null };
  const paused = (reopensAt: string | null) => ({ isOpen: false, isPaused: true, reopensAt });
  const closed = (reopensAt: string | null) => ({ isOpen: false, isPaused: false, reopensAt });

  for (const [what, hours, until, expected] of [
    ['no pause and no hours', ALWAYS, undefined, OPEN],
    ['no pause in the hours', LUNCH, undefined, OPEN],
    ['no pause outside the hours', ['6 12:00-15:00'], undefined, closed('2026-11-21T12:00:00Z')],
    ['a pause with an open end', ALWAYS, null, paused(null)],
    ['a pause with an open end and hours', LUNCH, null, paused(null)],
    ['a pause without hours', ALWAYS, '2026-11-20T13:00:00Z', paused('2026-11-20T13:00:00Z')],
    ['a pause that ends in the hours', LUNCH, '2026-11-20T14:00:00Z', paused('2026-11-20T14:00:00Z')],
    ['a pause that ends with the hours', LUNCH, '2026-11-20T15:00:00Z', paused('2026-11-21T12:00:00Z')],
    ['a pause that ends outside the hours', LUNCH, '2026-11-20T20:00:00Z', paused('2026-11-21T12:00:00Z')],
    ['a pause of months', LUNCH, '2027-03-01T08:00:00Z', paused('2027-03-01T12:00:00Z')],
    ['a pause that ends now', LUNCH, at, OPEN],
    [
      'a pause that has ended outside the hours',
      ['6 12:00-15:00'],
      '2026-11-20T12:00:00Z',
      closed('2026-11-21T12:00:00Z'),
    ],
  ] as const) {
    it(`${what}: openingStateAt gives the state and the time of the next opening`, () => {
      const pausedUntilMs = until === undefined ? -Infinity : until === null ? Infinity : Date.parse(until);
      const { reopensAtMs, ...state } = openingStateAt(Date.parse(at), hoursOf('UTC', ...hours), pausedUntilMs);
      assert.deepEqual({ ...state, reopensAt: iso(reopensAtMs) }, expected);
    });
  }
});
