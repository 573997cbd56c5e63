import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Booking, lanesOf, readBookings, stepsOf } from '../scripts/replay/bookings.ts';
import { type Call, drive, openActors, type Outcome, propertiesOf } from '../scripts/replay/drive.ts';
import { verify } from '../scripts/replay/verify.ts';
import { startService, type TestService } from './support/service.ts';

const REAL_BOOKINGS = join(import.meta.dirname, '../../shared/data/hotel-bookings.csv');
const TODAY = new Date().toISOString().slice(0, 10);

/** Three singles are wanted at once, so there are two; the one family room is wanted by one guest after the other. */
const MADE_UP = `hotel,booked_on,check_in,check_out,room_type,adults,children,babies,channel,nightly_rate,final_status,final_status_on
inn,2020-01-01,2020-03-01,2020-03-04,single,1,0,0,Direct,50,Check-Out,2020-03-04
inn,2020-01-01,2020-03-02,2020-03-05,single,1,0,0,Direct,50,Canceled,2020-01-05
inn,2020-01-02,2020-03-03,2020-03-06,single,1,0,0,Direct,50,Check-Out,2020-03-06
inn,2020-01-06,2020-03-03,2020-03-06,single,2,1,1,TA/TO,50,No-Show,2020-03-03
inn,2020-01-07,2020-03-01,2020-03-01,single,1,0,0,Direct,0,Check-Out,2020-03-01
inn,2020-01-08,2020-02-28,2020-03-03,family,0,0,0,Direct,90,Canceled,2020-01-08
barn,2020-01-09,2020-02-27,2020-02-29,family,2,2,0,Direct,90,Check-Out,2020-02-29
barn,2020-01-09,2023-01-01,2023-01-03,family,2,2,0,Direct,90,Check-Out,2023-01-03
`;
const MADE_UP_OUTCOMES: Outcome[] = [
  'completed',
  'cancelled',
  'refused',
  'no_show',
  'without nights',
  'cancelled',
  'completed',
  'completed',
];

let service: TestService;
before(async () => {
  service = await startService({ config: { rateLimitPerMinute: 1_000_000_000 } });
});
after(() => service.close());

/** Replays bookings in a tenant of their own. @param tamper changes what the service is seen to answer */
async function replay(bookings: Booking[], tamper: (call: Call) => Call = (call) => call) {
  const lanes = lanesOf(bookings);
  const { owner } = await service.tenant({ features: ['hotel'], properties: propertiesOf(lanes) });
  const actors = await openActors((...call) => service.call(...call), owner);
  let steps = 0;
  const tampered = { ...actors, call: tamper(actors.call) };
  const driven = await drive(tampered, lanes, () => (steps += 1));
  const verdict = await verify(tampered, driven);
  const outcomes = new Map(driven.flatMap((lane) => [...lane.outcomes]));
  return { steps, verdict, outcomes, faults: [...driven.flatMap((lane) => lane.faults), ...verdict.faults] };
}

describe('readBookings', () => {
  const bookings = readBookings(MADE_UP, '2026-05-31');

  it('moves every date by as many days, so that the earliest arrival is tomorrow', () => {
    const [first] = bookings;
    assert.deepEqual(first, {
      line: 1,
      hotel: 'inn',
      roomType: 'single',
      bookedOn: '2026-04-05',
      checkIn: '2026-06-04',
      checkOut: '2026-06-07',
      guests: 1,
      finalStatus: 'Check-Out',
      finalStatusOn: '2026-06-07',
    });
    assert.equal(bookings[6]?.checkIn, '2026-06-01');
  });

  it('counts children and babies as guests, and nobody as one', () => {
    assert.deepEqual(
      bookings.map(({ guests }) => guests),
      [1, 1, 1, 4, 1, 1, 4, 4],
    );
  });

  it('refuses a file of another kind', () => {
    assert.throws(() => readBookings('a,b\n1,2\n', TODAY), /under the columns hotel,booked_on/);
    assert.throws(() => readBookings(MADE_UP.split('\n')[0] ?? '', TODAY), /must have bookings/);
  });
});

describe('stepsOf', () => {
  it('goes day by day: ends first, then what is booked, then what is booked and over on that day', () => {
    const steps = stepsOf(readBookings(MADE_UP, '2020-02-26')).map(({ kind, booking }) => `${kind} ${booking.line}`);
    const begin = ['create 1', 'create 2', 'create 3', 'finish 2', 'create 4', 'create 5', 'create 6', 'finish 6'];
    const end = ['finish 7', 'finish 5', 'finish 4', 'finish 1', 'finish 3', 'finish 8'];
    assert.deepEqual(steps, [...begin, 'create 7', 'create 8', ...end]);
  });
});

describe('a replay', () => {
  it('of a few made-up bookings ends as it must, without a fault', async () => {
    const { steps, outcomes, verdict, faults } = await replay(readBookings(MADE_UP, TODAY));
    assert.deepEqual(faults, []);
    assert.equal(steps, 16);
    assert.deepEqual(
      [...outcomes].toSorted(([a], [b]) => a - b).map(([, outcome]) => outcome),
      MADE_UP_OUTCOMES,
    );
    assert.equal(verdict.oversoldNights, 0);
    assert.ok(verdict.nightsCompared > 1_000, 'ranges beyond 730 nights are read in parts');
  });

  const skip = existsSync(REAL_BOOKINGS) ? false : `the bookings are not there: ../shared/data/hotel-bookings.csv`;
  it('of the first 400 real bookings ends without a fault', { skip }, async () => {
    const { outcomes, verdict, faults } = await replay(readBookings(readFileSync(REAL_BOOKINGS, 'utf8'), TODAY, 400));
    assert.deepEqual(faults, []);
    assert.equal(outcomes.size, 400);
    assert.ok([...outcomes.values()].includes('refused'));
    assert.equal(verdict.oversoldNights, 0);
  });

  it('finds what a service does wrong', async () => {
    const wrongs: Record<string, (path: string, answer: Awaited<ReturnType<Call>>) => object | undefined> = {
      'booking 3: 201 where 409 was due': (_, { status }) =>
        status === 409 ? { status: 201, body: { reservation_id: 'x' } } : undefined,
      'booking 2: 409 where 200 was due': (path) => (path.endsWith('/cancel/') ? { status: 409 } : undefined),
      'where 1 are held': (path, { body }) =>
        path.includes('/inventory/')
          ? { body: (body as { sellable: number }[]).map((night) => ({ ...night, sellable: 2 })) }
          : undefined,
      'due, but not listed': (path, { body }) =>
        path.endsWith('/reservations/') && Array.isArray(body) ? { body: body.slice(1) } : undefined,
      'is listed twice': (path, { body }) =>
        path.endsWith('/reservations/') && Array.isArray(body)
          ? { body: [...(body as unknown[]), body[0]] }
          : undefined,
    };
    for (const [fault, wrong] of Object.entries(wrongs)) {
      const { faults } = await replay(readBookings(MADE_UP, TODAY), (call) => async (method, path, options) => {
        const answer = await call(method, path, options);
        return { ...answer, ...wrong(path, answer) };
      });
      assert.ok(
        faults.some((text) => text.includes(fault)),
        `${fault}:\n${faults.join('\n')}`,
      );
    }
  });
});
