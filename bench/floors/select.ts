// Floor (baseline without the service) of a read: a bare node:http server that runs one prepared statement for each request. The URL path
// of the request holds the parameters of the statement.
import { answerJobs } from '../child.ts';
import { openPool } from '../sql.ts';
import { serve } from './serve.ts';

export interface SelectJob {
  databaseUrl: string;
  connections: number;
  read: keyof typeof READS;
}

type Row = Record<string, unknown>;

/** SQL text of each read, and the function that turns the rows into the response body. */
const READS = {
  /** Reads one order by its external id. URL path of the request: `/<tenant id>/<credential id>/<external id>` */
  order: {
    text: `SELECT id AS order_id, external_order_id, status FROM restaurant_order
           WHERE tenant_id = $1 AND credential_id = $2 AND external_order_id = $3`,
    shape: ([row]: Row[]) => row && { success: true, ...row },
  },
  /**
   * Reads, for each night, the number of rooms that can be sold. The number is 0 for a night on which the rate plan is closed. URL path of
   * the request: `/<tenant id>/<room type id>/<rate plan id>/<check-in>/<check-out>`
   */
  availability: {
    text: `SELECT n.date, r.physical_capacity - n.held AS sellable, r.id, r.name, r.base_price, p.is_sold_out
           FROM room_type AS r
           JOIN night AS n ON n.tenant_id = r.tenant_id AND n.room_type_id = r.id
           LEFT JOIN rate AS p ON p.tenant_id = r.tenant_id AND p.rate_plan_id = $3 AND p.date = n.date
             AND p.date >= $4 AND p.date < $5
           WHERE r.tenant_id = $1 AND r.id = $2 AND n.date >= $4 AND n.date < $5`,
    shape: (rows: Row[]) => {
      const [first] = rows;
      const days = rows.map(({ date, sellable, is_sold_out }) => ({ date, sellable: is_sold_out ? 0 : sellable }));
      return first && { room_type_id: first['id'], name: first['name'], base_price: first['base_price'], days };
    },
  },
  /**
   * Reads, for each night, how many rooms exist and how many can be sold. URL path of the request: `/<tenant id>/<room type
   * id>/<check-in>/<check-out>`
   */
  inventory: {
    text: `SELECT n.date, r.physical_capacity, r.physical_capacity - n.held AS sellable
           FROM room_type AS r JOIN night AS n ON n.tenant_id = r.tenant_id AND n.room_type_id = r.id
           WHERE r.tenant_id = $1 AND r.id = $2 AND n.date >= $3 AND n.date < $4`,
    shape: (rows: Row[]) => rows,
  },
};

answerJobs(async ({ databaseUrl, connections, read }: SelectJob): Promise<string> => {
  const pool = openPool(databaseUrl, connections);
  const { text, shape } = READS[read];
  return await serve((request, response) => {
    const values = (request.url ?? '').split('/').slice(1);
    pool.query({ name: read, text, values }).then(
      ({ rows }) => {
        const body = JSON.stringify(shape(rows as Row[]));
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
          .end(body);
      },
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
});
