import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { pino } from 'pino';
import { readConfig } from '#platform/config.ts';
import { startWorker, type Worker } from '#service/worker.ts';
import { cleanUp, startServingProgram } from '#test/support/command.ts';
import { type CredentialRef, insertBacklog, insertCredentials, writeEvent } from '#test/support/events.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { runningMsOf } from '#test/support/running-time.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { eventually } from '#test/support/webhooks.ts';
import { createTransactionWithEvents } from '../events/events.ts';

/** Slots for scan leases that are always open, as the migration creates them. A worker may take a slot only while the slot is open. */
const ALWAYS_OPEN = [1, 2, 3, 4];

interface TestWorker extends Worker {
  /** Returns the number of attempts that this worker has made. */
  attempts(): number;
  warnings: string[];
}

describe('scan leases, with which a delivery worker may search the database for due deliveries', () => {
  let service: TestService;
  let receiver: Receiver;
  let tenantId: number;
  const workers: TestWorker[] = [];
  const services: TestService[] = [];

  beforeEach(async () => {
    service = await startService();
    services.push(service);
    receiver = await startReceiver();
    ({ tenantId } = await service.tenant());
  });
  afterEach(async () => {
    await cleanUp();
    await Promise.all(workers.splice(0).map((worker) => worker.stop(1_000)));
    await Promise.all([receiver.close(), ...services.splice(0).map((each) => each.close())]);
  });

  function work(): TestWorker {
    let attempts = 0;
    const warnings: string[] = [];
    const worker = startWorker({
      config: { ...readConfig({}), webhookAllowPrivateNetwork: true },
      db: service.database.db,
      databaseUrl: service.database.url,
      keyring: service.keyring,
      log: pino({ level: 'warn' }, { write: (line) => warnings.push(line) }),
      metrics: { attempted: () => (attempts += 1) },
    });
    const added = { ...worker, attempts: () => attempts, warnings };
    workers.push(added);
    return added;
  }

  /**
   * Opens the given slots, so that workers may take scan leases in them. Closes all other slots, but a busy worker may later open further
   * slots.
   */
  async function openOnly(slots: number[]): Promise<void> {
    await sql`
      UPDATE scan_lease SET open_until = CASE WHEN slot = ANY(${slots}::int[]) THEN 'infinity'::timestamptz ELSE '-infinity' END
    `.execute(service.database.db);
  }

  /** Returns the open slots, both free and taken, and the holders of leases that have not ended. */
  async function readLeases(): Promise<{ open: number[]; holders: string[] }> {
    const { rows } = await sql<{ slot: number; isOpen: boolean; holder: string | null; isHeld: boolean }>`
      SELECT slot, open_until > now() AS "isOpen", holder, leased_until > now() AS "isHeld" FROM scan_lease ORDER BY slot
    `.execute(service.database.db);
    return {
      open: rows.filter(({ isOpen }) => isOpen).map(({ slot }) => slot),
      holders: rows.flatMap(({ holder, isHeld }) => (isHeld && holder !== null ? [holder] : [])),
    };
  }

  const holdersBecome = async (count: number) =>
    await eventually(
      async () => {
        const { holders } = await readLeases();
        return holders.length === count && holders;
      },
      `${count} holders of scan leases`,
      30_000,
    );

  const credentials = async (paths: string[]) =>
    await insertCredentials(
      service,
      tenantId,
      paths.map((path) => receiver.url + path),
    );

  async function countListeners(): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'roomservice listener' AND query LIKE 'LISTEN%'
    `.execute(service.database.db);
    return rows[0]?.count ?? 0;
  }

  it('if there are four scan leases for seven workers, four workers hold a lease, and four connections listen for notifications', async () => {
    const all = Array.from({ length: 7 }, () => work());
    await holdersBecome(4);
    await eventually(async () => (await countListeners()) === 4, '4 listening connections');
    let gaps = 0;
    for (let look = 0; look < 20; look += 1) {
      const { holders } = await readLeases();
      assert.ok(new Set(holders).size === holders.length && holders.length <= 4, holders.join());
      if (holders.length < 4) {
        // If the machine suspends this process for longer than a lease, all leases have ended for a moment.
        gaps += 1;
        await holdersBecome(4);
      }
      await sleep(75);
    }
    assert.ok(gaps <= 3, `${gaps} of 20 reads have found fewer than four holders`);
    await eventually(async () => (await countListeners()) === 4, '4 listening connections');
    assert.deepEqual((await readLeases()).open, ALWAYS_OPEN);
    assert.deepEqual(
      all.flatMap(({ warnings }) => warnings),
      [],
    );
  });

  it('if the only worker with a scan lease is killed, another process takes the lease, and sends the due event within 4 s', async () => {
    await openOnly([1]);
    const env = {
      DATABASE_URL: service.database.url,
      MASTER_KEY: service.masterKey.toString('base64'),
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      LOG_LEVEL: 'error',
    };
    const killed = await startServingProgram(['--only', 'worker'], { env });
    const [holder] = await holdersBecome(1);
    const other = work();
    await sleep(1_500);
    assert.deepEqual(await holdersBecome(1), [holder], 'a living holder keeps its lease');
    killed.kill('SIGKILL');
    await killed.ended;
    const tookMs = await runningMsOf(async () => {
      const [credential] = (await credentials(['/late'])) as [CredentialRef];
      await insertBacklog(service.database.db, credential, 1);
      await receiver.waitFor(1);
    });
    assert.ok(tookMs < 4_000, `${tookMs} ms after the kill`);
    await eventually(() => other.attempts() === 1, 'attempt of the other process');
  });

  it('if a worker stops, its scan lease ends immediately, and another worker takes the lease', async () => {
    await openOnly([1]);
    const first = work();
    const [holder] = await holdersBecome(1);
    await first.stop(0);
    assert.equal((await readLeases()).holders.includes(holder ?? ''), false);
    work();
    await holdersBecome(1);
  });

  it('a worker without a scan lease sends the events of its own process, but no events of other processes', async () => {
    await openOnly([1]);
    const holder = work();
    await holdersBecome(1);
    const other = work();
    const [credential] = (await credentials(['/own'])) as [CredentialRef];
    const transaction = createTransactionWithEvents(service.database.db, other.deliveries);
    await writeEvent(transaction, credential);
    await receiver.waitFor(1);
    await eventually(() => other.attempts() === 1, 'attempt of the worker without a lease');
    const [foreign] = (await credentials(['/foreign'])) as [CredentialRef];
    for (let sent = 1; sent <= 8; sent += 1) {
      await insertBacklog(service.database.db, foreign, 1);
      await receiver.waitFor(1 + sent);
    }
    await eventually(() => holder.attempts() === 8, 'eight attempts of the holder');
    assert.equal(other.attempts(), 1);
  });

  it('a large backlog raises the permitted number of scan leases from one to three, and one holder remains when only one lease is permitted', async () => {
    await openOnly([1]);
    receiver.answerWith(() => ({ status: 204, afterMs: 100 }));
    const all = Array.from({ length: 3 }, () => work());
    await holdersBecome(1);
    await insertBacklog(service.database.db, await credentials(['/a', '/b', '/c', '/d']), 600);
    await eventually(() => all.every((worker) => worker.attempts() > 50), 'attempts of all workers');
    assert.deepEqual((await readLeases()).open.slice(0, 3), [1, 5, 6]);
    await receiver.waitFor(2_400, 30_000);
    await openOnly([1]);
    await holdersBecome(1);
  });

  it('if 300 deliveries to a failing receiver are due, the permitted number of scan leases stays one, so no further worker may search for due deliveries', async () => {
    await openOnly([1]);
    receiver.answerWith(() => 500);
    work();
    await holdersBecome(1);
    await insertBacklog(service.database.db, await credentials(['/failing']), 300);
    await receiver.waitFor(10);
    await sleep(1_500);
    assert.deepEqual((await readLeases()).open, [1]);
  });

  it('if the table scan_lease has lost its rows, a worker logs warnings, and sends no event until the rows exist again', async () => {
    const { db } = service.database;
    await sql`CREATE TABLE kept AS SELECT * FROM scan_lease`.execute(db);
    await sql`DELETE FROM scan_lease`.execute(db);
    const [credential] = (await credentials(['/kept'])) as [CredentialRef];
    await insertBacklog(db, credential, 1);
    const worker = work();
    await eventually(() => worker.warnings.length >= 2, 'two warnings');
    assert.match(worker.warnings[0] ?? '', /scan_lease has no rows/);
    assert.equal(receiver.requests.length, 0);
    await sql`INSERT INTO scan_lease SELECT * FROM kept`.execute(db);
    await receiver.waitFor(1);
  });
});
