import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterDatabase, createClusterDatabase } from '../support/database.ts';
import { isTestCluster } from '../support/test-cluster.ts';
import { insertBacklog } from '../support/events.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { place } from '../support/restaurant.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';
import { causeEvent, eventually, placeOrder, register } from '../support/webhooks.ts';

const skip = !(await isTestCluster()) && 'TEST_DATABASE_URL does not lead to a cluster (Citus)';

/** Tenant of the test, and the webhook receiver that gets its events. */
interface Neighbour {
  tenant: TestTenant;
  receiver: Receiver;
}

for (const [outage, takeAway] of [
  ['refuses connections', (database: ClusterDatabase, node: number) => database.proxies[node]?.refuse()],
  ['does not answer', (database: ClusterDatabase, node: number) => database.proxies[node]?.swallow()],
] as const) {
  describe(`a node of a cluster that ${outage}`, { skip, timeout: 180_000 }, () => {
    let database: ClusterDatabase;
    let service: TestService;
    /** Tenant whose data is on the cluster node that is down. */
    let down: Neighbour;
    /** Tenant whose data is on another node, which works. */
    let up: Neighbour;
    let node: number;
    const receivers: Receiver[] = [];

    before(async () => {
      database = await createClusterDatabase();
      service = await startService({ database, worker: true, config: { rateLimitPerMinute: 1_000_000 } });
      down = await newNeighbour();
      node = await database.nodeOf(down.tenant.tenantId);
      do {
        up = await newNeighbour();
      } while ((await database.nodeOf(up.tenant.tenantId)) === node);
      await takeAway(database, node);
    });
    after(async () => {
      await service.close();
      await Promise.all(receivers.map((receiver) => receiver.close()));
    });

    async function newNeighbour(): Promise<Neighbour> {
      const tenant = await service.tenant();
      const receiver = await startReceiver();
      receivers.push(receiver);
      await register(service, tenant.partner, receiver.url);
      await causeEvent(service, tenant);
      await receiver.waitFor(1);
      return { tenant, receiver };
    }

    it('503: calls of a tenant whose data is on the failed node get Retry-After, and after the first calls the response comes within 0.5 s', async () => {
      await eventually(
        async () => {
          const beganMs = performance.now();
          const answer = await place(service, down.tenant);
          assert.equal(answer.status, 503, answer.text);
          assert.ok(Number(answer.headers.get('retry-after')) > 0);
          return performance.now() - beganMs < 500;
        },
        'a fast 503',
        40_000,
      );
    });

    it('503, 201: while 40 clients get 503 for a tenant whose database node is down, each order of a tenant on another database node succeeds within 1 s', async () => {
      let isOver = false;
      const callers = Array.from({ length: 40 }, async () => {
        while (!isOver) {
          assert.equal((await place(service, down.tenant)).status, 503);
          await sleep(20);
        }
      });
      for (let number = 0; number < 20; number += 1) {
        const beganMs = performance.now();
        await placeOrder(service, up.tenant.partner);
        assert.ok(performance.now() - beganMs < 1_000);
      }
      isOver = true;
      await Promise.all(callers);
    });

    it('while one database node is down, webhook events of a tenant on another database node are delivered, also due events that the worker must find in the database', async () => {
      const arrived = up.receiver.requests.length;
      await causeEvent(service, up.tenant);
      await insertBacklog(database.db, up.tenant, 3);
      await up.receiver.waitFor(arrived + 4, 20_000);
    });

    it('201: if a failed database node is reachable again, a tenant on this node can place orders, and the webhook receiver of this tenant gets its events', async () => {
      await database.proxies[node]?.restore();
      await eventually(
        async () => (await place(service, down.tenant)).status === 201,
        'an order of the tenant',
        20_000,
      );
      const arrived = down.receiver.requests.length;
      await causeEvent(service, down.tenant);
      await insertBacklog(database.db, down.tenant, 3);
      await down.receiver.waitFor(arrived + 4, 20_000);
    });
  });
}
