import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import {
  insertBacklog,
  insertCredentials,
  startTestWorker,
  type CredentialRef,
  writeEvent,
} from '#test/support/events.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { newId } from '#platform/lib/ids.ts';
import type { Worker } from '#service/worker.ts';
import { type Claim, Claims } from './claims.ts';
import { SendingSlots } from './sending-slots.ts';
import { createTransactionWithEvents } from '../events/events.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';

const SLOTS = 256;
const HALF = SLOTS / 2;
const CLAIM_SIZE = 200;
const SLOW_MS = 500;

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

/** Creates a tenant with the given number of credentials. Each credential has its own receiver. */
async function tenantWith(receivers: number, urlOf: (index: number) => string): Promise<CredentialRef[]> {
  const { tenantId } = await service.tenant();
  return await insertCredentials(
    service,
    tenantId,
    Array.from({ length: receivers }, (_, index) => urlOf(index)),
  );
}

const removeEvents = async () => void (await sql`TRUNCATE event, delivery`.execute(service.database.db));

describe('claims of deliveries for a tenant with many receivers', () => {
  let slots: SendingSlots;
  let claims: Claims;

  beforeEach(() => {
    slots = new SendingSlots();
    claims = new Claims(service.database.db, slots, () => ({ id: newId(), seconds: 15, beginBeforeMs: 0 }));
  });
  afterEach(removeEvents);

  const tenantOf = (receivers: number) => tenantWith(receivers, (index) => `https://127.0.0.1:1/${newId()}/${index}`);
  const insertDue = (credentials: CredentialRef[], count: number) =>
    insertBacklog(service.database.db, credentials, count);

  /** Claims deliveries until no due delivery can get a free sending slot. */
  async function takeAll(): Promise<Claim[]> {
    const taken: Claim[] = [];
    for (let claimed = await claims.take(); claimed !== null; claimed = await claims.take()) {
      taken.push(...claimed);
    }
    return taken;
  }

  const countOf = (taken: Claim[], [credential]: CredentialRef[]) =>
    taken.filter(({ delivery }) => delivery.tenantId === credential?.tenantId).length;

  it('a tenant with 100 receivers gets all 256 sending slots while no other tenant waits', async () => {
    const busy = await tenantOf(100);
    await insertDue(busy, 10);
    await claims.scan();
    assert.equal(countOf(await takeAll(), busy), SLOTS);
  });

  it('two large tenants (100 receivers each) get about half of the slots each, and a tenant with one receiver gets at least one slot', async () => {
    const [first, second, small] = [await tenantOf(100), await tenantOf(100), await tenantOf(1)];
    await insertDue([...first, ...small], 10);
    await claims.scan();
    const taken = await takeAll();
    assert.deepEqual([countOf(taken, first), countOf(taken, small)], [SLOTS - 4, 4]);
    taken.forEach(({ slot }) => slots.release(slot));
    await insertDue(second, 10);
    await claims.scan();
    const shared = await takeAll();
    const counts = [first, second, small].map((credentials) => countOf(shared, credentials));
    assert.equal(shared.length, SLOTS);
    assert.ok((counts[2] ?? 0) >= 1, 'the tenant with one receiver got no slot');
    assert.ok(Math.min(...counts.slice(0, 2)) >= HALF - 4, `the three tenants got ${counts.join(', ')} slots`);
  });

  it('if one tenant has all slots and a second tenant begins to wait, the second tenant gets one of the next two free slots', async () => {
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

  it('deliveries of a revoked credential are stopped even while its tenant has all slots', async () => {
    const busy = await tenantOf(100);
    await insertDue(busy, 10);
    await claims.scan();
    await takeAll();
    const { tenantId, credential } = busy[99] as CredentialRef;
    await service.database.db
      .updateTable('credential')
      .set({ is_active: false })
      .where('tenant_id', '=', tenantId)
      .where('id', '=', credential.id)
      .execute();
    await claims.scan();
    await takeAll();
    const waiting = await service.database.db
      .selectFrom('delivery')
      .select('id')
      .where('tenant_id', '=', tenantId)
      .where('credential_id', '=', credential.id)
      .where('status', '=', 'pending')
      .where('attempt_count', '=', 0)
      .execute();
    assert.deepEqual(waiting, []);
  });

  it('the search for due deliveries finds a small tenant although 5,100 credentials of another tenant have due deliveries', async () => {
    const [busy, other] = [await tenantOf(5_100), await tenantOf(1)];
    await insertDue([...busy, ...other], 1);
    for (let times = 0; times < 4; times += 1) {
      await claims.scan();
    }
    assert.equal(countOf(await takeAll(), other), 1);
  });
});

describe('the event of a small tenant while a tenant with many slow receivers has a backlog', {
  skip: (await isTestCluster()) && 'a cluster has no triggers, which these tests use',
}, () => {
  let server: Receiver;
  let worker: Worker;
  let other: CredentialRef[];

  // Triggers in the database record the order of claims. The order in which events arrive at the receiver would be less exact, because its
  // TLS handshakes take seconds on a busy machine.
  before(async () => {
    // The table of this test is in a separate schema. In the schema public, each table needs a rule that says on which nodes of a cluster
    // the table is stored (`src/platform/db/distribution.ts`).
    await sql`CREATE SCHEMA noted`.execute(service.database.db);
    await sql`CREATE TABLE noted.claim (place bigserial, tenant_id bigint)`.execute(service.database.db);
    await sql`
      CREATE FUNCTION note_claim() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO noted.claim (tenant_id) VALUES (NEW.tenant_id); RETURN NULL; END'
    `.execute(service.database.db);
    await sql`
      CREATE TRIGGER note_claim AFTER UPDATE OF attempt_count ON delivery
      FOR EACH ROW WHEN (NEW.attempt_count > OLD.attempt_count) EXECUTE FUNCTION note_claim()
    `.execute(service.database.db);
    await sql`
      CREATE TRIGGER note_born_claimed AFTER INSERT ON delivery
      FOR EACH ROW WHEN (NEW.attempt_count > 0) EXECUTE FUNCTION note_claim()
    `.execute(service.database.db);
  });
  beforeEach(async () => {
    server = await startReceiver({
      answer: ({ path }) => (path.startsWith('/busy/') ? { status: 204, afterMs: SLOW_MS } : 204),
    });
    // Attempts to a receiver that hangs must keep their sending slots until the end of a test, also on a slow machine. So their time limit
    // is much longer than a test.
    worker = startTestWorker(service, { timeoutMs: 120_000, leaseSeconds: 180 });
    other = await tenantWith(1, (index) => urlOf('other', index));
  });
  afterEach(async () => {
    await worker.stop(0);
    await server.close();
    await removeEvents();
    await sql`TRUNCATE noted.claim RESTART IDENTITY`.execute(service.database.db);
  });

  const urlOf = (name: string, index: number) => `https://127.0.0.1:${server.port}/${name}/${index}`;
  const countOf = (name: string) => server.requests.filter(({ path }) => path.startsWith(`/${name}/`)).length;
  const write = async (credential: CredentialRef | undefined, isLocal = true) => {
    assert.ok(credential);
    await writeEvent(createTransactionWithEvents(service.database.db, isLocal ? worker.deliveries : null), credential);
  };
  const countClaims = async () => {
    const { rows } = await sql<{ place: number }>`SELECT coalesce(max(place), 0) AS place FROM noted.claim`.execute(
      service.database.db,
    );
    return rows[0]?.place ?? 0;
  };
  const placeOfFirstClaim = async (credential: CredentialRef | undefined) => {
    const { rows } = await sql<{ place: number }>`
      SELECT min(place) AS place FROM noted.claim WHERE tenant_id = ${credential?.tenantId}
    `.execute(service.database.db);
    assert.ok(rows[0]?.place, 'the event was not claimed');
    return rows[0].place;
  };

  for (const isLocal of [true, false]) {
    const way = isLocal ? 'reported to the worker' : 'found by a search';
    it(`if a small tenant's event is ${way}, at most 456 events (256 slots plus one claim of 200) of a busy tenant are claimed earlier`, async (t) => {
      await insertBacklog(service.database.db, await tenantWith(600, (index) => urlOf('busy', index)), 20);
      await eventually(async () => (await countClaims()) >= SLOTS, 'claims that fill all slots', 60_000);
      await write(other[0], isLocal);
      // The event of the small tenant is committed only now. So the test does not count the earlier claims, because they did not delay this
      // event.
      const earlier = await countClaims();
      await eventually(() => countOf('other') > 0, 'event of the other tenant', 60_000);
      const ahead = (await placeOfFirstClaim(other[0])) - earlier - 1;
      t.diagnostic(`${ahead} events of the busy tenant were claimed before the event of the other tenant`);
      assert.ok(
        ahead <= SLOTS + CLAIM_SIZE,
        `${ahead} events of the busy tenant were claimed before the event of the other tenant`,
      );
    });
  }

  it('if one tenant has half of the sending slots and another tenant waits, the worker offers no lease for a new event of the first tenant', async () => {
    server.answerWith(() => 'hang');
    const busy = await tenantWith(40, (index) => urlOf('busy', index));
    const isOffered = (of: CredentialRef | undefined) => {
      assert.ok(of);
      const lease = worker.deliveries.offerLease({ tenantId: of.tenantId, credentialId: of.credential.id }, 0);
      return lease !== null;
    };
    for (let sent = 0; sent < HALF; sent += 1) {
      await write(busy[sent % 32]);
    }
    assert.ok(isOffered(busy[32]), 'a lease is offered while no other tenant waits');
    for (let sent = 0; sent < 5; sent += 1) {
      await write(other[0]); // The first four events take all sending slots of the receiver, so the fifth event waits.
    }
    assert.equal(isOffered(busy[32]), false);
    assert.ok(
      isOffered((await tenantWith(1, (index) => urlOf('third', index)))[0]),
      'a third tenant, which has taken no slot, is offered a lease',
    );
  });
});
