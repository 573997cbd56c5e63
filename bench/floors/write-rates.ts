// Floor (baseline without the service) of PUT rates: one prepared upsert of many rows, without HTTP. Each upsert is one transaction.
import { answerJobs } from '../child.ts';
import type { Slice } from '../load-worker.ts';
import { closedLoop } from './closed-loop.ts';
import { connectMany } from './statements.ts';

export interface WriteRatesJob {
  databaseUrl: string;
  connections: number;
  seconds: number;
  plans: { tenantId: number; ratePlanId: string }[];
  dates: string[];
}

function upsertOf(count: number): string {
  const rows = Array.from({ length: count }, (_, index) => `($1, $2, $${index * 2 + 3}, $${index * 2 + 4}, false)`);
  return `INSERT INTO rate (tenant_id, rate_plan_id, date, price, is_sold_out) VALUES ${rows.join()}
          ON CONFLICT (tenant_id, rate_plan_id, date) DO UPDATE SET price = excluded.price, is_sold_out = excluded.is_sold_out`;
}

answerJobs(async ({ databaseUrl, connections, seconds, plans, dates }: WriteRatesJob): Promise<Slice> => {
  const clients = await connectMany(databaseUrl, connections);
  const upsert = { name: 'upsert', text: upsertOf(dates.length) };
  let next = 0;
  const slice = await closedLoop({ lanes: connections, seconds }, async (lane) => {
    const { tenantId, ratePlanId } = plans[(next += 1) % plans.length] ?? {};
    // The operation `pms-rates` measures calls of the service that change prices. This floor and the service write the same rows in turns.
    // The floor writes prices from 30 to 69, and the service writes prices of 90 and more. So the service must change the prices that the
    // floor has written.
    const prices = dates.flatMap((date, day) => [date, `${30 + ((next + day) % 40)}.00`]);
    await clients[lane]?.query({ ...upsert, values: [tenantId, ratePlanId, ...prices] });
  });
  await Promise.all(clients.map((client) => client.end()));
  return slice;
});
