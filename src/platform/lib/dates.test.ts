import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { addDays, countNights, dayAt, instantOf, isTimeZone, nightsOf, todayIn, weekdayOf } from './dates.ts';

// A second implementation of the calendar. The tests compare the results of dates.ts with it. It follows the calendar rules and does not
// use Date or Temporal.

interface Day {
  year: number;
  month: number;
  day: number;
}

const isLeap = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
const lengthOf = (year: number, month: number) =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
const textOf = ({ year, month, day }: Day) =>
  `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;

function nextDay({ year, month, day }: Day): Day {
  if (day < lengthOf(year, month)) {
    return { year, month, day: day + 1 };
  }
  return month < 12 ? { year, month: month + 1, day: 1 } : { year: year + 1, month: 1, day: 1 };
}

/**
 * Returns the number of days since 31 December of the year 0. It adds the days of all past years, of the past months of this year, and of
 * this month.
 */
function numberOf({ year, month, day }: Day): number {
  const past = year - 1;
  const years = past * 365 + Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400);
  const months = Array.from({ length: month - 1 }, (_, index) => lengthOf(year, index + 1));
  return months.reduce((sum, length) => sum + length, years) + day;
}

/** Generates random days from the years 1 to 9998. Ends of months, and days in February, are frequent among them. */
const days = fc
  .record({
    year: fc.oneof(fc.integer({ min: 1, max: 9998 }), fc.constantFrom(1, 4, 100, 400, 1900, 2000, 2028, 2100, 9996)),
    month: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(2)),
    day: fc.oneof(fc.integer({ min: 1, max: 31 }), fc.integer({ min: 27, max: 31 })),
  })
  .map(({ year, month, day }) => ({ year, month, day: Math.min(day, lengthOf(year, month)) }));

describe('nightsOf', () => {
  it('nightsOf returns every day from check-in to the day before check-out, each day once and in order', () => {
    fc.assert(
      fc.property(days, fc.integer({ min: 0, max: 800 }), (checkIn, count) => {
        const expected: string[] = [];
        let day: Day = checkIn;
        while (expected.length < count && day.year <= 9998) {
          expected.push(textOf(day));
          day = nextDay(day);
        }
        assert.deepEqual(nightsOf(textOf(checkIn), textOf(day)), expected);
        assert.equal(countNights(textOf(checkIn), textOf(day)), expected.length);
      }),
      { numRuns: 500 },
    );
  });

  it('nightsOf returns an empty list if check-out is not after check-in', () => {
    fc.assert(
      fc.property(days, days, (a, b) => {
        const [early, late] = [textOf(a), textOf(b)].sort();
        assert.deepEqual(nightsOf(late ?? '', early ?? ''), []);
      }),
    );
  });

  it('nightsOf returns 29 February only in leap years, for example in 2000 but not in 1900 and 2100', () => {
    for (const [year, hasIt] of [
      ['2024', true],
      ['2023', false],
      ['1900', false],
      ['2000', true],
      ['2100', false],
      ['0004', true],
      ['0100', false],
      ['0400', true],
      ['9996', true],
    ] as const) {
      const nights = nightsOf(`${year}-02-28`, `${year}-03-01`);
      assert.deepEqual(nights, hasIt ? [`${year}-02-28`, `${year}-02-29`] : [`${year}-02-28`]);
    }
  });

  it('nightsOf returns the nights of stays that begin on 0001-01-01, end on 9999-12-31 or include the change from year 99 to year 100', () => {
    assert.deepEqual(nightsOf('0001-01-01', '0001-01-02'), ['0001-01-01']);
    assert.deepEqual(nightsOf('9999-12-30', '9999-12-31'), ['9999-12-30']);
    assert.deepEqual(nightsOf('0099-12-31', '0100-01-02'), ['0099-12-31', '0100-01-01']);
  });
});

describe('countNights', () => {
  it('countNights returns the difference of two days, which is negative if check-out is before check-in', () => {
    fc.assert(
      fc.property(days, days, (checkIn, checkOut) => {
        assert.equal(countNights(textOf(checkIn), textOf(checkOut)), numberOf(checkOut) - numberOf(checkIn));
      }),
      { numRuns: 2_000 },
    );
  });

  it('countNights returns 3,652,058 nights from 0001-01-01 to 9999-12-31', () => {
    assert.equal(countNights('0001-01-01', '9999-12-31'), 3_652_058);
  });
});

const ZONES = [
  'Europe/Lisbon',
  'America/New_York',
  'America/St_Johns',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Pacific/Auckland',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Asia/Kathmandu',
  'Antarctica/Troll',
  'America/Sao_Paulo',
  'UTC',
];

/**
 * Returns the local time of a zone at an instant. The result is in milliseconds since 1970, as if the local time were UTC, so that two
 * local times can be subtracted.
 */
function wallMs(instantMs: number, timezone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(instantMs);
  const part = (type: string) => parts.find((each) => each.type === type)?.value;
  return Date.parse(
    `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}Z`,
  );
}

describe('instantOf', () => {
  const times = fc
    .integer({ min: 0, max: 1_439 })
    .map((minute) => new Date(minute * 60_000).toISOString().slice(11, 16));
  const dates = fc.integer({ min: 0, max: 47_000 }).map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10));

  it('instantOf returns the first instant with the given local time, and if a clock change of N minutes skips this time, adds N minutes to it', () => {
    fc.assert(
      fc.property(dates, times, fc.constantFrom(...ZONES), (date, time, zone) => {
        const moment = instantOf(date, time, zone);
        assert.match(moment, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
        const ms = Date.parse(moment);
        const wanted = Date.parse(`${date}T${time}:00Z`);
        const gap = wallMs(ms, zone) - wanted;
        assert.ok(gap >= 0);
        // If the zone has the wanted local time on this date, `gap` is 0. Otherwise a clock change skips the wanted time. Then the next
        // check proves that the clock jumps forward by exactly `gap`. For example, the clock jumps from 02:00 to 03:00, and 02:30 is
        // wanted. Then `instantOf` returns the instant of 03:30, and `gap` is one hour. This instant is 30 minutes after the jump. So one
        // hour earlier is 30 minutes before the jump. At that time the clock shows 01:30, which is the wanted 02:30 minus `gap`.
        assert.equal(wallMs(ms - gap, zone), wanted - gap);
        for (const minutes of [20, 30, 60, 120]) {
          assert.notEqual(
            wallMs(ms - minutes * 60_000, zone),
            wanted,
            'the zone had the wanted local time at an earlier instant',
          );
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('instantOf moves a skipped local time forward, and returns the first instant of a repeated local time, in ten examples near clock changes', () => {
    for (const [date, time, zone, moment] of [
      ['2026-03-08', '01:59', 'America/New_York', '2026-03-08T06:59:00.000Z'],
      ['2026-03-08', '02:00', 'America/New_York', '2026-03-08T07:00:00.000Z'],
      ['2026-03-08', '02:30', 'America/New_York', '2026-03-08T07:30:00.000Z'],
      ['2026-03-08', '03:00', 'America/New_York', '2026-03-08T07:00:00.000Z'],
      ['2026-11-01', '00:59', 'America/New_York', '2026-11-01T04:59:00.000Z'],
      ['2026-11-01', '01:30', 'America/New_York', '2026-11-01T05:30:00.000Z'],
      ['2026-11-01', '02:00', 'America/New_York', '2026-11-01T07:00:00.000Z'],
      ['2026-10-04', '02:15', 'Australia/Lord_Howe', '2026-10-03T15:45:00.000Z'],
      ['2027-03-28', '01:30', 'Europe/Lisbon', '2027-03-28T01:30:00.000Z'],
      ['2018-11-04', '00:00', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'],
    ] as const) {
      assert.equal(instantOf(date, time, zone), moment, `${date} ${time} ${zone}`);
    }
  });
});

describe('todayIn', () => {
  it('todayIn returns the current day of each zone, also if two zones have different days at the same instant', (context) => {
    for (const [now, kiritimati, lisbon, pagoPago] of [
      ['2026-05-02T10:30:00Z', '2026-05-03', '2026-05-02', '2026-05-01'],
      ['2026-05-02T09:59:59Z', '2026-05-02', '2026-05-02', '2026-05-01'],
      ['2026-12-31T23:59:59Z', '2027-01-01', '2026-12-31', '2026-12-31'],
      ['2028-02-29T00:00:00Z', '2028-02-29', '2028-02-29', '2028-02-28'],
    ] as const) {
      context.mock.timers.enable({ apis: ['Date'], now: Date.parse(now) });
      const zones = ['Pacific/Kiritimati', 'Europe/Lisbon', 'Pacific/Pago_Pago'];
      assert.deepEqual(zones.map(todayIn), [kiritimati, lisbon, pagoPago], now);
      context.mock.timers.reset();
    }
  });
});

describe('dayAt, addDays and weekdayOf', () => {
  it('dayAt returns the day of an instant in each zone', () => {
    const atMs = Date.parse('2026-11-20T23:30:00Z');
    for (const [zone, day] of [
      ['UTC', '2026-11-20'],
      ['Europe/Lisbon', '2026-11-20'],
      ['Europe/Berlin', '2026-11-21'],
      ['Pacific/Kiritimati', '2026-11-21'],
      ['America/Los_Angeles', '2026-11-20'],
    ] as const) {
      assert.equal(dayAt(atMs, zone), day, zone);
    }
  });

  it('addDays goes forward and back over the ends of months and years', () => {
    assert.equal(addDays('2026-12-31', 1), '2027-01-01');
    assert.equal(addDays('2028-03-01', -1), '2028-02-29');
    assert.equal(addDays('2026-11-20', 0), '2026-11-20');
  });

  it('weekdayOf returns 1 for a Monday to 7 for a Sunday', () => {
    const weekdays = Array.from({ length: 8 }, (_, index) => weekdayOf(addDays('2026-11-23', index)));
    assert.deepEqual(weekdays, [1, 2, 3, 4, 5, 6, 7, 1]);
  });
});

describe('isTimeZone', () => {
  it('isTimeZone is true for names of time zones, and todayIn and instantOf accept each of these names', () => {
    for (const name of [...ZONES, 'europe/lisbon', 'Asia/Calcutta', 'Europe/Kyiv', 'Etc/GMT+12', 'EST5EDT']) {
      assert.ok(isTimeZone(name), name);
      assert.match(todayIn(name), /^\d{4}-\d\d-\d\d$/);
      assert.match(instantOf('2026-05-01', '15:00', name), /Z$/);
    }
  });

  it('isTimeZone is false for texts that are not names of time zones, such as offsets, dates and abbreviations', () => {
    const names = [
      '',
      ' ',
      'Mars/Base',
      'Europe',
      'PST',
      'CST',
      'IST',
      'Z',
      'Local',
      '+25:00',
      'UTC+1',
      '\0',
      '__proto__',
    ];
    for (const name of [...names, '2026-05-01T15:00Z', '2026-05-01T15:00[Europe/Lisbon]', 'Europe/Lisbon ']) {
      assert.ok(!isTimeZone(name), name);
    }
  });
});
