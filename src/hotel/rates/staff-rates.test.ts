import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { assertError, faultsOf } from '#test/support/answers.ts';
import { book, dayAfter, dayAhead, openHotel, pmsHeaders, type TestHotel, writePlan } from '#test/support/hotel.ts';
import { PMS } from '#test/support/pms.ts';
import type { Answer } from '#test/support/http.ts';
import { startService } from '#test/support/service.ts';
import { useService } from '#test/support/shared-service.ts';
import { openRecorded } from '#test/support/statements.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';
import { entriesOf } from '#test/support/lists.ts';
import { changeRates } from './rate-changes.ts';
import type { NightState } from './staff-schema.ts';

const RATES = '/v1/staff/rates/';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const OPEN = { price: null, is_sold_out: false };

let hotel: TestHotel;
let flexible: string;
let saver: string;
const service = await useService();
beforeEach(async () => {
  hotel = await openHotel(service);
  flexible = hotel.plans['Double/Flexible'] ?? '';
  saver = hotel.plans['Double/Saver'] ?? '';
});

const night = (days: number) => dayAhead(30 + days);
const send = (json: unknown, headers = hotel.owner): Promise<Answer> => service.call('PATCH', RATES, { headers, json });
const change = (changes: object[], more: object = {}) => send({ changes, ...more });

/**
 * Reads the stored nights of all rate plans of the hotel. Each entry has the name of the plan, the number of days after `night(0)`, the
 * price and `is_sold_out`.
 */
async function stored(): Promise<[string, number, string | null, boolean][]> {
  const rows = await service.database.db
    .selectFrom('rate')
    .selectAll()
    .where('tenant_id', '=', hotel.tenantId)
    .orderBy('rate_plan_id')
    .orderBy('date')
    .execute();
  return rows.map(({ rate_plan_id, date, price, is_sold_out }) => {
    const name = rate_plan_id === flexible ? 'Flexible' : 'Saver';
    return [name, (Date.parse(date) - Date.parse(night(0))) / 86_400_000, price, is_sold_out];
  });
}

interface ListedEntry {
  subject: string;
  details: { entries: [] };
  actor: { type: string; id: string };
}

async function auditOf(action: string): Promise<{ subject: string; entries: { date: string }[]; actor: object }[]> {
  const body = await entriesOf(service, '/v1/staff/audit/', hotel.owner);
  return body
    .filter((entry: { action: string }) => entry.action === action)
    .map(({ subject, details, actor: { type, id } }: ListedEntry) => ({
      subject,
      actor: { type, id },
      entries: details.entries,
    }));
}

describe('PATCH /v1/staff/rates/', () => {
  it('200: a change writes prices and closed nights of several plans, and lists each night with its values before and after', async () => {
    const answer = await change([
      { rate_plan_id: flexible, date: night(0), price: '120.5' },
      { rate_plan_id: saver, date: night(0), is_sold_out: true },
      { rate_plan_id: flexible.toUpperCase(), date: night(1), price: '0', is_sold_out: true },
    ]);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body, {
      changed: [
        { rate_plan_id: flexible, date: night(0), before: OPEN, after: { price: '120.50', is_sold_out: false } },
        { rate_plan_id: saver, date: night(0), before: OPEN, after: { price: null, is_sold_out: true } },
        { rate_plan_id: flexible, date: night(1), before: OPEN, after: { price: '0.00', is_sold_out: true } },
      ],
    });
    const rows = await stored();
    assert.equal(rows.length, 3);
    for (const row of [
      ['Flexible', 0, '120.50', false],
      ['Flexible', 1, '0.00', true],
      ['Saver', 0, null, true],
    ]) {
      assert.ok(
        rows.some((each) => JSON.stringify(each) === JSON.stringify(row)),
        JSON.stringify(rows),
      );
    }
  });

  it('200: a change without price or is_sold_out keeps the stored value, and the price null removes the own price of a night', async () => {
    const at = { rate_plan_id: flexible, date: night(0) };
    assert.equal((await change([{ ...at, price: '120.00', is_sold_out: true }])).status, 200);
    assert.equal((await change([{ ...at, price: '130.00' }])).status, 200);
    assert.deepEqual(await stored(), [['Flexible', 0, '130.00', true]]);
    assert.equal((await change([{ ...at, is_sold_out: false }])).status, 200);
    assert.deepEqual(await stored(), [['Flexible', 0, '130.00', false]]);
    const { status, body } = await change([{ ...at, price: null }]);
    assert.equal(status, 200);
    assert.deepEqual(body.changed, [{ ...at, before: { price: '130.00', is_sold_out: false }, after: OPEN }]);
    assert.equal((await book(service, hotel, { check_in: night(0), check_out: night(1) })).body.total_amount, '100.00');
  });

  it('200: if an entry repeats the stored values of a night, `changed` in the response does not list the night, and no rate and no audit entry is written', async () => {
    await change([{ rate_plan_id: flexible, date: night(0), price: '120.00' }]);
    const { status, body } = await change([
      { rate_plan_id: flexible, date: night(0), price: '120', is_sold_out: false },
      { rate_plan_id: flexible, date: night(1), price: null },
      { rate_plan_id: flexible, date: night(2) },
    ]);
    assert.deepEqual([status, body], [200, { changed: [] }]);
    assert.deepEqual(await stored(), [['Flexible', 0, '120.00', false]]);
    assert.equal((await auditOf('rates.changed')).length, 1);
  });

  it('200: partners and the PMS see a changed price and a closed night immediately, on another node too', async (t) => {
    const other = await startService({ beside: service });
    t.after(() => other.close());
    const pms = await pmsHeaders(service, hotel);
    const query = `rate_plan_id=${flexible}&check_in=${night(0)}&check_out=${night(1)}`;
    const read = () => other.call('GET', `${PMS}/rates/?${query}`, { headers: pms });
    const quote = `/v1/third-party/hotels/quote/?room_type_id=${hotel.roomTypes['Double']}&check_in=${night(0)}&check_out=${night(1)}`;
    assert.equal((await other.call('GET', quote, { headers: hotel.partner })).body.total_amount, '100.00');
    await change([{ rate_plan_id: flexible, date: night(0), price: '150.00' }]);
    assert.deepEqual((await read()).body, [{ date: night(0), price: '150.00', is_sold_out: false }]);
    assert.equal((await other.call('GET', quote, { headers: hotel.partner })).body.total_amount, '150.00');
    await change([{ rate_plan_id: flexible, date: night(0), is_sold_out: true }]);
    assertError(await other.call('GET', quote, { headers: hotel.partner }), 409, 'room_not_available');
  });

  it('200: nights of an inactive plan, nights in the past and nights until the year 9999 can be changed', async () => {
    const closed = hotel.plans['Double/Closed for good'] ?? '';
    const { status, body } = await change([
      { rate_plan_id: closed, date: '1999-12-31', price: '1.00' },
      { rate_plan_id: closed, date: '9999-12-31', price: '99999999.99' },
    ]);
    assert.deepEqual([status, body.changed.length], [200, 2]);
  });

  it('200: a dry run returns the differences but writes no price and no audit entry', async () => {
    const changes = [
      { rate_plan_id: flexible, date: night(0), price: '120.00' },
      { rate_plan_id: saver, date: night(0), is_sold_out: true, expected: OPEN },
    ];
    const dry = await change(changes, { dry_run: true });
    assert.equal(dry.status, 200, dry.text);
    assert.deepEqual(await stored(), []);
    assert.deepEqual(await auditOf('rates.changed'), []);
    assert.deepEqual((await change(changes)).body, dry.body);
  });

  it('200: the audit trail has one entry for each changed plan, with the person and the values before and after', async () => {
    const { status } = await change([
      { rate_plan_id: flexible, date: night(0), price: '120.00' },
      { rate_plan_id: saver, date: night(0), is_sold_out: true },
      { rate_plan_id: flexible, date: night(1), price: null },
    ]);
    assert.equal(status, 200);
    const entries = await auditOf('rates.changed');
    const { id } = await service.database.db
      .selectFrom('app_user')
      .select('id')
      .where('tenant_id', '=', hotel.tenantId)
      .where('role', '=', 'owner')
      .executeTakeFirstOrThrow();
    const actor = { type: 'user', id };
    assert.deepEqual(
      entries.toSorted((a, b) => (a.subject === flexible ? -1 : b.subject === flexible ? 1 : 0)),
      [
        {
          subject: flexible,
          actor,
          entries: [{ date: night(0), before: OPEN, after: { price: '120.00', is_sold_out: false } }],
        },
        {
          subject: saver,
          actor,
          entries: [{ date: night(0), before: OPEN, after: { price: null, is_sold_out: true } }],
        },
      ],
    );
  });

  it('a change of 1,000 nights of two plans sends six SQL statements, and writes one audit entry for each plan', async () => {
    const plans = [flexible, saver];
    const changes = Array.from({ length: 1_000 }, (_, index) => ({
      rate_plan_id: plans[index % 2] ?? '',
      date: dayAfter(night(0), Math.floor(index / 2)),
      price: `${100 + (index % 7)}.00`,
      expected: OPEN,
    }));
    const { db, statementsOf } = openRecorded(service.database.url, 2);
    const actor = { tenantId: hotel.tenantId, type: 'operator', id: null } as const;
    let changed = 0;
    const statements = await statementsOf(async () => {
      changed = (await changeRates(db, actor, { changes })).changed.length;
    });
    await db.destroy();
    const write = (await isTestCluster()) ? 'insert' : 'merge';
    assert.equal(changed, 1_000);
    assert.deepEqual(
      statements.map((statement) => /^\w+/.exec(statement.trim())?.[0].toLowerCase()),
      ['begin', 'select', 'select', write, 'insert', 'commit'],
    );
    const entries = await auditOf('rates.changed');
    assert.deepEqual(
      entries.map((entry) => entry.entries.length).sort((a, b) => a - b),
      [500, 500],
    );
    assert.equal((await stored()).length, 1_000);
  });

  it('400 invalid_request: an invalid entry is refused with the path of its field, and no night is changed', async () => {
    const good = { rate_plan_id: flexible, date: night(1), price: '50.00' };
    for (const [bad, fault] of [
      [{ price: '1.001' }, /^changes\.1\.price: /],
      [{ expected: { price: 1, is_sold_out: false } }, /^changes\.1\.expected\.price: /],
    ] as [object, RegExp][]) {
      const refused = await change([good, { rate_plan_id: flexible, date: night(2), ...bad }]);
      assert.match(faultsOf(refused).join(), fault, JSON.stringify(bad));
    }
    assert.deepEqual(await stored(), []);
  });

  it('400 invalid_request: a night that is named twice is refused, even if one of the plan ids is in capital letters', async () => {
    const entry = { rate_plan_id: flexible, date: night(0), price: '50.00' };
    const other = { ...entry, rate_plan_id: saver };
    for (const repeated of [entry, { ...entry, rate_plan_id: flexible.toUpperCase(), price: '60.00' }]) {
      assert.match(
        faultsOf(await change([entry, other, repeated])).join(),
        /^changes\.2: names the night .* a second time/,
      );
    }
    assert.deepEqual(await stored(), []);
  });

  it("404: an unknown plan and another tenant's plan get the same response, and the valid change in the same call is not made", async () => {
    const other = await openHotel(service);
    const first = { rate_plan_id: flexible, date: night(0), price: '50.00' };
    const [unknown, foreign] = await Promise.all(
      [UNKNOWN, other.plans['Double/Flexible']].map((id) => change([first, { ...first, rate_plan_id: id }])),
    );
    assert.ok(unknown && foreign);
    assertError(unknown, 404, 'error');
    assert.equal(foreign.text, unknown.text);
    assert.deepEqual(await stored(), []);
  });

  it('409 invalid_status_transition: if nights do not have the expected values, the message names the first five, and no night is changed', async () => {
    const pms = await pmsHeaders(service, hotel);
    const dates = Array.from({ length: 7 }, (_, days) => night(days));
    await writePlan(
      service,
      pms,
      'rates',
      flexible,
      dates.map((date) => ({ date, price: 150 })),
    );
    const earlier = await stored();
    const changes = dates.map((date) => ({ rate_plan_id: flexible, date, price: '99.00', expected: OPEN }));
    for (const dry_run of [false, true]) {
      const message = assertError(await change(changes, { dry_run }), 409, 'invalid_status_transition');
      for (const date of dates.slice(0, 5)) {
        assert.ok(message.includes(`${date} of rate plan ${flexible} has the price 150.00 and is open`), message);
      }
      assert.ok(!message.includes(night(5)) && message.includes('and 2 more'), message);
    }
    assert.deepEqual(await stored(), earlier);
    const right: NightState = { price: '150', is_sold_out: false };
    assert.equal((await change(changes.map((each) => ({ ...each, expected: right })))).status, 200);
  });

  it('409 invalid_status_transition: for a night without its own price, a change that expects the base price is refused; 200: a change that expects the price null is accepted', async () => {
    const at = { rate_plan_id: flexible, date: night(0) };
    const closing = (expected: object) => change([{ ...at, is_sold_out: true, expected }]);
    assertError(await closing({ price: '100.00', is_sold_out: false }), 409, 'invalid_status_transition');
    assertError(await closing({ price: null, is_sold_out: true }), 409, 'invalid_status_transition');
    assert.equal((await closing(OPEN)).status, 200);
    await change([{ ...at, price: '100.00' }]);
    const message = assertError(await closing(OPEN), 409, 'invalid_status_transition');
    assert.match(message, /has the price 100\.00 and is sold out/);
  });
});
