import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Answer } from '#test/support/http.ts';
import { cleanUp, type Serving, startServingProgram } from '#test/support/command.ts';
import { type ListedEvent, readToEnd } from '#test/support/feed.ts';
import {
  book,
  openChannel,
  openHotel,
  reservationPath,
  STAFF_RESERVATIONS,
  type TestHotel,
} from '#test/support/hotel.ts';
import { orderPath } from '#test/support/restaurant.ts';
import { call, envOf, startService, type TestService } from '#test/support/service.ts';
import { countWaiting } from '#test/support/statements.ts';
import { eventually, placeOrder } from '#test/support/webhooks.ts';

const CLOCK = join(import.meta.dirname, '../../../test/suites/faults/shifted-clock.ts');
const HALF_AN_HOUR_MS = 1_800_000;
const PAIRS = 12;

/** Node of the service: the service in this process, or a process whose clock is an hour ahead. */
type Node = Pick<TestService, 'url'>;

/** Order or stay with the paths of its calls. */
interface Subject {
  externalId: string;
  staffPath: string;
  partnerPath: string;
  /** Status that staff set while the partner cancels. */
  status: string;
}

function assertIncreasing(texts: string[]): void {
  assert.deepEqual(texts, [...new Set(texts)].sort(), 'in order, and never equal');
}

/** Times of the changes must follow the order of the changes, which is the order in which they lock the row. */
describe('the order of the changes of an order or a stay', () => {
  let service: TestService;
  let ahead: Serving;
  let hotel: TestHotel;

  before(async () => {
    service = await startService({ config: { rateLimitPerMinute: 1_000_000 } });
    hotel = await openHotel(service);
    ahead = await startServingProgram(['--only', 'api'], {
      env: { ...envOf(service), RATE_LIMIT_PER_MINUTE: '1000000', NODE_OPTIONS: `--import=${CLOCK}` },
    });
    ahead.kill('SIGUSR2');
    await eventually(async () => {
      const { orderId } = await placeOrder(service, hotel.partner);
      const { body } = await setStatus(ahead, `/v1/staff/orders/${orderId}/`, 'confirmed');
      return Date.parse(body.status_changed_at) > Date.now() + HALF_AN_HOUR_MS;
    }, 'change by a clock that is ahead');
  });
  after(async () => {
    ahead.kill('SIGTERM');
    await ahead.ended;
    await cleanUp();
    await service.close();
  });

  const makers: Record<string, () => Promise<Subject>> = {
    'an order': async () => {
      const { orderId, externalId } = await placeOrder(service, hotel.partner);
      const paths = { staffPath: `/v1/staff/orders/${orderId}/`, partnerPath: orderPath(externalId) };
      return { externalId, ...paths, status: 'confirmed' };
    },
    'a stay': async () => {
      const { body } = await book(service, hotel);
      const externalId: string = body.external_reservation_id;
      const paths = {
        staffPath: `${STAFF_RESERVATIONS}${body.reservation_id}/`,
        partnerPath: reservationPath(externalId),
      };
      return { externalId, ...paths, status: 'no_show' };
    },
  };

  function setStatus(on: Node, staffPath: string, status: string): Promise<Answer> {
    return call(on.url, 'POST', `${staffPath}status/`, { headers: hotel.staff, json: { status } });
  }
  function cancel(on: Node, { partnerPath }: Subject): Promise<Answer> {
    return call(on.url, 'POST', `${partnerPath}cancel/`, { headers: hotel.partner });
  }

  /**
   * Asserts that the events of the subject have increasing times and ids, in the order of the feed, and that the times are those of the
   * history and of the last change. The last event must have the final status.
   * @returns the events
   */
  async function assertInOrder({ externalId, staffPath }: Subject): Promise<ListedEvent[]> {
    const { all } = await readToEnd(service, hotel.partner);
    const events = all.filter(({ data }) => Object.values(data).includes(externalId));
    const { body } = await service.call('GET', staffPath, { headers: hotel.staff });
    // The placing of an order is in its history, but causes no event.
    const history: { status: string; at: string }[] = body.history.filter(
      (step: { status: string }) => step.status !== 'pending',
    );
    assert.deepEqual(
      events.map(({ data, occurred_at }) => [data['status'], occurred_at]),
      history.map(({ status, at }) => [status, at]),
    );
    assertIncreasing(body.history.map(({ at }: { at: string }) => at));
    assertIncreasing(events.map(({ event_id }) => event_id));
    const last = events.at(-1);
    assert.deepEqual(
      [last?.data['status'], last?.occurred_at],
      [body.status, body.status_changed_at ?? body.changed_at],
    );
    return events;
  }

  for (const [kind, make] of Object.entries(makers)) {
    it(`200: if a node whose clock is an hour ahead changes ${kind}, and then another node cancels it, the cancellation has the later time`, async () => {
      const subject = await make();
      assert.equal((await setStatus(ahead, subject.staffPath, subject.status)).status, 200);
      assert.equal((await cancel(service, subject)).status, 200);
      const [changed, cancelled] = (await assertInOrder(subject)).slice(-2);
      assert.ok(changed && cancelled);
      assert.deepEqual([changed.data['status'], cancelled.data['status']], [subject.status, 'cancelled']);
      assert.equal(Date.parse(cancelled.occurred_at), Date.parse(changed.occurred_at) + 1);
    });

    it(`200 or 409: if staff change ${kind} while the partner cancels it on another node, the last event has the final status`, async () => {
      for (let pair = 0; pair < PAIRS; pair += 1) {
        const [one, other] = pair % 2 === 0 ? [ahead, service] : [service, ahead];
        const subject = await make();
        const [moved, cancelled] = await Promise.all([
          setStatus(one, subject.staffPath, subject.status),
          cancel(other, subject),
        ]);
        assert.ok([200, 409].includes(moved.status) && cancelled.status === 200, moved.text + cancelled.text);
        await assertInOrder(subject);
      }
    });

    it(`200: a change of ${kind} that waits for the lock of the row has a time after the wait`, async () => {
      const subject = await make();
      const { db } = service.database;
      const table = kind === 'an order' ? 'restaurant_order' : 'reservation';
      const id = subject.staffPath.split('/').at(-2) ?? '';
      const tx = await db.startTransaction().execute();
      const row = tx.selectFrom(table).select('id').where('tenant_id', '=', hotel.tenantId).where('id', '=', id);
      await row.forUpdate().execute();
      const changing = setStatus(service, subject.staffPath, subject.status);
      await eventually(async () => (await countWaiting(db)) > 0, 'change that waits for the lock');
      const releasedAt = new Date().toISOString();
      await tx.commit().execute();
      assert.equal((await changing).status, 200);
      const event = (await assertInOrder(subject)).at(-1);
      assert.ok(event && event.occurred_at >= releasedAt, `${event?.occurred_at} ${releasedAt}`);
    });
  }

  it("200: the event of a booking has the time of the booking, and the changes of an OTA's stay on two nodes have increasing times", async () => {
    const subject = await makers['a stay']?.();
    assert.ok(subject);
    const { body } = await service.call('GET', subject.staffPath, { headers: hotel.staff });
    const [created] = await assertInOrder(subject);
    assert.equal(created?.occurred_at, body.created_at);
    const send = await openChannel(service, hotel);
    const ota = await send({ external_id: 'O', status: 'pending' });
    const path = `${STAFF_RESERVATIONS}${ota.body.id}/`;
    assert.equal((await setStatus(ahead, path, 'confirmed')).status, 200);
    assert.equal((await send({ external_id: 'O', status: 'cancelled' })).status, 200);
    const { body: stay } = await service.call('GET', path, { headers: hotel.staff });
    assert.deepEqual(
      stay.history.map(({ status }: { status: string }) => status),
      ['pending', 'confirmed', 'cancelled'],
    );
    assertIncreasing(stay.history.map(({ at }: { at: string }) => at));
  });
});
