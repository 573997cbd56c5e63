import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { insertBacklog, insertCredentials, startTestWorker, type Whose, writeEvent } from '#test/support/events.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { newId } from '#platform/lib/ids.ts';
import type { Worker } from '#service/worker.ts';
import { type Claim, Claims } from './claims.ts';
import { SendingSlots } from './sending-slots.ts';
import { createTransactionWithEvents } from '../events/events.ts';

const SLOTS = 256;
const HALF = SLOTS / 2;
const CLAIM_SIZE = 200;
const SLOW_MS = 500;

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

/** A new tenant with so many credentials, each with a receiver of its own. */
async function tenantWith(receivers: number, urlOf: (index: number) => string): Promise<Whose[]> {
  const { tenantId } = await service.tenant();
  return await insertCredentials(
    service,
    tenantId,
    Array.from({ length: receivers }, (_, index) => urlOf(index)),
  );
}

const removeEvents = async () => void (await sql`TRUNCATE event`.execute(service.database.db));

describe('claims for a tenant with many receivers', () => {
  let slots: SendingSlots;
  let claims: Claims;

  beforeEach(() => {
    slots = new SendingSlots();
    claims = new Claims(service.database.db, slots, () => ({ id: newId(), seconds: 15, beginBeforeMs: 0 }));
  });
  afterEach(removeEvents);

  const tenantOf = (receivers: number) => tenantWith(receivers, (index) => `https://127.0.0.1:1/${newId()}/${index}`);
  const insertDue = (whose: Whose[], count: number) => insertBacklog(service.database.db, whose, count);

  /** All that there are slots for now. */
  async function takeAll(): Promise<Claim[]> {
    const taken: Claim[] = [];
    for (let claimed = await claims.take(); claimed !== null; claimed = await claims.take()) {
      taken.push(...claimed);
    }
    return taken;
  }

  const countOf = (taken: Claim[], [whose]: Whose[]) =>
    taken.filter(({ delivery }) => delivery.tenantId === whose?.tenantId).length;

  it('take all slots while no other tenant waits', async () => {
    const busy = await tenantOf(100);
    await insertDue(busy, 10);
    await claims.scan();
    assert.equal(countOf(await takeAll(), busy), SLOTS);
  });

  it('take half of them beside another such tenant, and what others have no use for', async () => {
    const [first, second, small] = [await tenantOf(100), await tenantOf(100), await tenantOf(1)];
    await insertDue([...first, ...small], 10);
    await claims.scan();
    const taken = await takeAll();
    assert.deepEqual([countOf(taken, first), countOf(taken, small)], [SLOTS - 4, 4]);
    taken.forEach(({ slot }) => slots.release(slot));
    await insertDue(second, 10);
    await claims.scan();
    const shared = await takeAll();
    const counts = [first, second, small].map((whose) => countOf(shared, whose));
    assert.deepEqual([counts[2], (counts[0] ?? 0) + (counts[1] ?? 0)], [4, SLOTS - 4]);
    assert.ok(Math.min(...counts.slice(0, 2)) >= HALF - 4, `${counts.join(', ')} deliveries`);
  });

  it('leave the next free slot to the other tenant, whose turn in the line would come last', async () => {
    const [busy, other] = [await tenantOf(100), await tenantOf(1)];
    await insertDue(busy, 10);
    await claims.scan();
    const taken = await takeAll();
    await insertDue(other, 1);
    await claims.scan();
    assert.equal(await claims.take(), null);
    taken.slice(0, 2).forEach(({ slot }) => slots.release(slot));
    const next = await takeAll();
    assert.deepEqual([countOf(next, other), countOf(next, busy)], [1, 1]);
  });

  it('stop what is revoked whatever the tenant has under way', async () => {
    const busy = await tenantOf(100);
    await insertDue(busy, 10);
    await claims.scan();
    await takeAll();
    const { tenantId, credential } = busy[99] as Whose;
    await service.database.db
      .updateTable('credential')
      .set({ is_active: false })
      .where('tenant_id', '=', tenantId)
      .where('id', '=', credential.id)
      .execute();
    await claims.scan();
    await takeAll();
    const waiting = await service.database.db
      .selectFrom('event')
      .select('id')
      .where('tenant_id', '=', tenantId)
      .where('credential_id', '=', credential.id)
      .where('delivery_status', '=', 'pending')
      .where('attempt_count', '=', 0)
      .execute();
    assert.deepEqual(waiting, []);
  });

  it('leave room in the line for others, also where more of its credentials wait than the line holds', async () => {
    const [busy, other] = [await tenantOf(5_100), await tenantOf(1)];
    await insertDue([...busy, ...other], 1);
    for (let times = 0; times < 4; times += 1) {
      await claims.scan();
    }
    assert.equal(countOf(await takeAll(), other), 1);
  });
});

describe('the event of another tenant, beside one whose many receivers are slow', () => {
  let server: Receiver;
  let worker: Worker;
  let other: Whose[];

  // The database notes the order of claims. Arrivals say less: on a busy machine the receiver's own TLS handshakes take seconds.
  before(async () => {
    await sql`CREATE TABLE noted_claim (place bigserial, tenant_id bigint)`.execute(service.database.db);
    await sql`
      CREATE FUNCTION note_claim() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO noted_claim (tenant_id) VALUES (NEW.tenant_id); RETURN NULL; END'
    `.execute(service.database.db);
    await sql`
      CREATE TRIGGER note_claim AFTER UPDATE OF attempt_count ON event
      FOR EACH ROW WHEN (NEW.attempt_count > OLD.attempt_count) EXECUTE FUNCTION note_claim()
    `.execute(service.database.db);
    await sql`
      CREATE TRIGGER note_born_claimed AFTER INSERT ON event
      FOR EACH ROW WHEN (NEW.attempt_count > 0) EXECUTE FUNCTION note_claim()
    `.execute(service.database.db);
  });
  beforeEach(async () => {
    server = await startReceiver({
      answer: ({ path }) => (path.startsWith('/busy/') ? { status: 204, afterMs: SLOW_MS } : 204),
    });
    worker = startTestWorker(service);
    other = await tenantWith(1, (index) => urlOf('other', index));
  });
  afterEach(async () => {
    await worker.stop(0);
    await server.close();
    await removeEvents();
    await sql`TRUNCATE noted_claim RESTART IDENTITY`.execute(service.database.db);
  });

  const urlOf = (name: string, index: number) => `https://127.0.0.1:${server.port}/${name}/${index}`;
  const countOf = (name: string) => server.requests.filter(({ path }) => path.startsWith(`/${name}/`)).length;
  const write = async (whose: Whose | undefined, isLocal = true) => {
    assert.ok(whose);
    await writeEvent(createTransactionWithEvents(service.database.db, isLocal ? worker.deliveries : null), whose);
  };
  const countClaims = async () => {
    const { rows } = await sql<{ place: number }>`SELECT coalesce(max(place), 0) AS place FROM noted_claim`.execute(
      service.database.db,
    );
    return rows[0]?.place ?? 0;
  };
  const placeOfFirstClaim = async (whose: Whose | undefined) => {
    const { rows } = await sql<{ place: number }>`
      SELECT min(place) AS place FROM noted_claim WHERE tenant_id = ${whose?.tenantId}
    `.execute(service.database.db);
    assert.ok(rows[0]?.place, 'the event was claimed');
    return rows[0].place;
  };

  for (const isLocal of [true, false]) {
    it(`is sent with the next free slot: ${isLocal ? 'told of by its commit' : 'found by the scan'}`, async (t) => {
      await insertBacklog(service.database.db, await tenantWith(600, (index) => urlOf('busy', index)), 20);
      await eventually(async () => (await countClaims()) >= SLOTS, 'full slots', 60_000);
      await write(other[0], isLocal);
      // Counted from the commit on: what is claimed while the event is written is not ahead of it.
      const earlier = await countClaims();
      await eventually(() => countOf('other') > 0, 'event of the other tenant', 60_000);
      const ahead = (await placeOfFirstClaim(other[0])) - earlier - 1;
      t.diagnostic(`claimed behind ${ahead} events`);
      assert.ok(ahead <= SLOTS + CLAIM_SIZE, `${ahead} events of the busy tenant were claimed first`);
    });
  }

  it('is not passed by new events of that one, which are born claimed only while nobody else waits', async () => {
    server.answerWith(() => 'hang');
    const busy = await tenantWith(40, (index) => urlOf('busy', index));
    const isOffered = (whose: Whose | undefined) => {
      assert.ok(whose);
      const lease = worker.deliveries.offerLease({ tenantId: whose.tenantId, credentialId: whose.credential.id }, 0);
      return lease !== null;
    };
    for (let sent = 0; sent < HALF; sent += 1) {
      await write(busy[sent % 32]);
    }
    assert.ok(isOffered(busy[32]), 'nobody else waits');
    for (let sent = 0; sent < 5; sent += 1) {
      await write(other[0]); // Four fill its share; the fifth waits.
    }
    assert.equal(isOffered(busy[32]), false);
    assert.ok(isOffered((await tenantWith(1, (index) => urlOf('third', index)))[0]), 'a third tenant has its half');
  });
});
