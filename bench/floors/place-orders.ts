// Floor (baseline without the service) of POST orders. It is a bare node:http server. For each call, one prepared statement inserts a copy
// of an order that the service has written. The floor in insert-orders.ts inserts such copies without HTTP.
import type { IncomingMessage } from 'node:http';
import { newId } from '#platform/lib/ids.ts';
import { answerJobs } from '../child.ts';
import { openPool } from '../sql.ts';
import type { InsertOrdersJob } from './insert-orders.ts';
import { serve } from './serve.ts';
import { insertInto } from './statements.ts';

export type PlaceOrdersJob = Omit<InsertOrdersJob, 'seconds'>;

answerJobs(async ({ databaseUrl, connections, row, owners }: PlaceOrdersJob): Promise<string> => {
  const pool = openPool(databaseUrl, connections);
  const insert = insertInto('restaurant_order', row);
  let next = 0;
  const place = async (request: IncomingMessage) => {
    await request.toArray();
    const { tenantId, credentialId } = owners[(next += 1) % owners.length] ?? {};
    const id = newId();
    const own = { ...row, tenant_id: tenantId, id, credential_id: credentialId, external_order_id: `floor-${id}` };
    await pool.query({ ...insert, values: Object.values(own) });
    return JSON.stringify({ success: true, order_id: id, external_order_id: `floor-${id}`, status: 'pending' });
  };
  return await serve((request, response) => {
    place(request).then(
      (body) => response.writeHead(201, { 'content-type': 'application/json' }).end(body),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
});
