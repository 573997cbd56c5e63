import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Booking, lanesOf, readBookings, stepsOf } from '../scripts/replay/bookings.ts';
import { type Call, drive, openActors, type Outcome, propertiesOf } from '../scripts/replay/drive.ts';
import { verify } from '../scripts/replay/verify.ts';
import { startService, type TestService } from './support/service.ts';

/**
 * 400 real bookings of two hotels. They are a part of the data set "Hotel booking demand" (Antonio, de Almeida and Nunes, Data in Brief 22,
 * 2019, licence CC BY 4.0).
 */
const REAL_BOOKINGS = join(import.meta.dirname, 'replay-bookings.csv');
const TODAY = new Date().toISOString().slice(0, 10);

/**
 * Invented bookings. The inn has two single rooms. The first three bookings of this list are for single rooms, and their nights
 * overlap. So the service must refuse the third booking of the list. The bookings of family rooms do not overlap.
 */
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

/**
 * Creates the bookings in a new tenant, and later gives each created booking the status in its field `finalStatus`.
 * @param tamper wraps the function that calls the service, so that a test can falsify responses
 */
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

  it('readBookings moves every date by the same number of days, so that the earliest arrival is tomorrow', () => {
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

  it('readBookings counts adults, children and babies as guests, and counts a booking without guests as one guest', () => {
    assert.deepEqual(
      bookings.map(({ guests }) => guests),
      [1, 1, 1, 4, 1, 1, 4, 4],
    );
  });

  it('readBookings refuses a file with wrong column names and a file without bookings', () => {
    assert.throws(() => readBookings('a,b\n1,2\n', TODAY), /under the columns hotel,booked_on/);
    assert.throws(() => readBookings(MADE_UP.split('\n')[0] ?? '', TODAY), /must have bookings/);
  });
});

describe('stepsOf', () => {
  it('stepsOf puts the steps of one day in this order: final statuses of earlier bookings, new bookings, final statuses of bookings made on this day', () => {
    const steps = stepsOf(readBookings(MADE_UP, '2020-02-26')).map(({ kind, booking }) => `${kind} ${booking.line}`);
    const begin = ['create 1', 'create 2', 'create 3', 'finish 2', 'create 4', 'create 5', 'create 6', 'finish 6'];
    const end = ['finish 7', 'finish 5', 'finish 4', 'finish 1', 'finish 3', 'finish 8'];
    assert.deepEqual(steps, [...begin, 'create 7', 'create 8', ...end]);
  });
});

describe('a replay of bookings in a new tenant', () => {
  it('if eight invented bookings are replayed against the service, each booking gets the expected outcome, and the replay reports no wrong response', async () => {
    const { steps, outcomes, verdict, faults } = await replay(readBookings(MADE_UP, TODAY));
    assert.deepEqual(faults, []);
    assert.equal(steps, 16);
    assert.deepEqual(
      [...outcomes].toSorted(([a], [b]) => a - b).map(([, outcome]) => outcome),
      MADE_UP_OUTCOMES,
    );
    assert.equal(verdict.oversoldNights, 0);
    assert.ok(verdict.nightsCompared > 1_000, 'the nights beyond the 730 of one request were not compared');
  });

  it('a replay of 400 real bookings shows no fault and no oversold night', async () => {
    const { outcomes, verdict, faults } = await replay(readBookings(readFileSync(REAL_BOOKINGS, 'utf8'), TODAY));
    assert.deepEqual(faults, []);
    assert.equal(outcomes.size, 400);
    assert.ok([...outcomes.values()].includes('refused'));
    assert.equal(verdict.oversoldNights, 0);
  });

  it('a replay reports a fault if a response shows a wrong status, a wrong number of rooms or a wrong list of bookings', async () => {
    const wrongs: Record<string, (path: string, answer: Awaited<ReturnType<Call>>) => object | undefined> = {
      'booking 3: the status was 201, but 409 was expected': (_, { status }) =>
        status === 409 ? { status: 201, body: { reservation_id: 'x' } } : undefined,
      'booking 2: the status was 409, but 200 was expected': (path) =>
        path.endsWith('/cancel/') ? { status: 409 } : undefined,
      'but 1 rooms are held': (path, { body }) =>
        path.includes('/inventory/')
          ? { body: (body as { sellable: number }[]).map((night) => ({ ...night, sellable: 2 })) }
          : undefined,
      'expected, but not listed': (path, { body }) =>
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
