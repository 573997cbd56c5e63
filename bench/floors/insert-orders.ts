// Floor (baseline without the service) of POST orders. It uses no HTTP. A prepared INSERT writes a copy of an order that the service has
// written. Each INSERT is one transaction.
import { newId } from '#platform/lib/ids.ts';
import { answerJobs } from '../child.ts';
import type { Slice } from '../load-worker.ts';
import { closedLoop } from './closed-loop.ts';
import { connectMany, insertInto, type TextRow } from './statements.ts';

export interface InsertOrdersJob {
  databaseUrl: string;
  connections: number;
  seconds: number;
  /** Order row that the service has written. Each INSERT writes a copy with its own ids. */
  row: TextRow;
  owners: { tenantId: number; credentialId: string }[];
}

answerJobs(async ({ databaseUrl, connections, seconds, row, owners }: InsertOrdersJob): Promise<Slice> => {
  const clients = await connectMany(databaseUrl, connections);
  const insert = insertInto('restaurant_order', row);
  let next = 0;
  const slice = await closedLoop({ lanes: connections, seconds }, async (lane) => {
    const { tenantId, credentialId } = owners[(next += 1) % owners.length] ?? {};
    const id = newId();
    const own = { ...row, tenant_id: tenantId, id, credential_id: credentialId, external_order_id: `floor-${id}` };
    await clients[lane]?.query({ ...insert, values: Object.values(own) });
  });
  await Promise.all(clients.map((client) => client.end()));
  return slice;
});
