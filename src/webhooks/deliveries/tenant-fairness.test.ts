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
import type { Worker } from '#service/worker.ts';
import { createTransactionWithEvents } from '../events/events.ts';
import { isTestCluster } from '#test/support/test-cluster.ts';

const PLACES = 256;
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
  });
  beforeEach(async () => {
    server = await startReceiver({
      answer: ({ path }) => (path.startsWith('/busy/') ? { status: 204, afterMs: SLOW_MS } : 204),
    });
    // Attempts to a receiver that hangs must keep their places until the end of a test, also on a slow machine. So their time limit
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
    await writeEvent(createTransactionWithEvents(service.database.db, isLocal ? worker.wake : null), credential);
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
    const way = isLocal ? 'reported to the worker' : 'found by a poll';
    it(`if a small tenant's event is ${way}, at most 456 events (256 places plus one claim of 200) of a busy tenant are claimed earlier`, async (t) => {
      await insertBacklog(service.database.db, await tenantWith(600, (index) => urlOf('busy', index)), 20);
      await eventually(async () => (await countClaims()) >= PLACES, 'claims that fill all places', 60_000);
      await write(other[0], isLocal);
      // The event of the small tenant is committed only now. So the test does not count the earlier claims, because they did not delay this
      // event.
      const earlier = await countClaims();
      await eventually(() => countOf('other') > 0, 'event of the other tenant', 60_000);
      const ahead = (await placeOfFirstClaim(other[0])) - earlier - 1;
      t.diagnostic(`${ahead} events of the busy tenant were claimed before the event of the other tenant`);
      assert.ok(
        ahead <= PLACES + CLAIM_SIZE,
        `${ahead} events of the busy tenant were claimed before the event of the other tenant`,
      );
    });
  }
});
