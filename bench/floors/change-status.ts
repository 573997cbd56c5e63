// Floor (baseline without the service) of a status change by staff: a bare node:http server. For each call, it changes the status of one
// order and writes the event, with one prepared statement. Then it responds, and posts the event to the receiver. The URL path of a call is
// `/<tenant id>/<order id>`.
import type { IncomingMessage } from 'node:http';
import { Client } from 'undici';
import { newId } from '#platform/lib/ids.ts';
import { answerJobs } from '../child.ts';
import { openPool } from '../sql.ts';
import { serve } from './serve.ts';

export interface ChangeStatusJob {
  databaseUrl: string;
  /** Number of database connections. The number of connections to the receiver is the same. */
  connections: number;
  webhookUrl: string;
  cert: string;
}

const CHANGE = {
  name: 'change',
  text: `WITH changed AS (
           UPDATE restaurant_order SET status = 'confirmed' WHERE tenant_id = $1 AND id = $2 RETURNING tenant_id, credential_id
         )
         INSERT INTO event (tenant_id, id, credential_id, type, body, subject, created_at)
         SELECT tenant_id, $3, credential_id, 'order.status_changed', $4, '{}', now() FROM changed`,
};

answerJobs(async ({ databaseUrl, connections, webhookUrl, cert }: ChangeStatusJob): Promise<string> => {
  const pool = openPool(databaseUrl, connections);
  const { origin, pathname: path } = new URL(webhookUrl);
  const clients = Array.from({ length: connections }, () => new Client(origin, { connect: { ca: cert } }));
  let turn = 0;
  const post = async (body: string) => {
    const client = clients[(turn += 1) % connections];
    const answer = await client?.request({
      path,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    await answer?.body.dump();
  };
  const change = async (request: IncomingMessage) => {
    await request.toArray();
    const [, tenantId, orderId] = request.url?.split('/') ?? [];
    const body = JSON.stringify({ event: 'order.status_changed', data: { order_id: orderId } });
    const { rowCount } = await pool.query({ ...CHANGE, values: [tenantId, orderId, newId(), body] });
    if (rowCount !== 1) {
      throw new Error(`The floor has no order ${orderId} of tenant ${tenantId}.`);
    }
    return body;
  };
  return await serve((request, response) => {
    change(request).then(
      (body) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
        void post(body);
      },
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
});
