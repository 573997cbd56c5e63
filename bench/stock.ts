import type pg from 'pg';
import type { Sizes } from './options.ts';
import { tell } from './progress.ts';
import { withConnection } from './sql.ts';
import { storeOrders, storeOrdersOf } from './stored.ts';

/** Prefix of the external ids of the `listedOrders`. These orders make the order list of one credential long. */
const LISTED = 'listed-';

/**
 * Adds data to a database that has tenants, so that the database is as full as after years of use. `sizes.manyOrders` orders are divided
 * equally among all third-party credentials. One of these credentials gets `sizes.listedOrders` further orders, so that its list of orders
 * is long. The first tenant gets past stays.
 */
export async function stock(url: string, sizes: Sizes): Promise<void> {
  await withConnection(url, async (client) => {
    await client.query('SET session_replication_role = replica; SET synchronous_commit = off');
    tell(`storing ${sizes.listedOrders} orders of one credential`);
    const { rows } = await client.query<{ tenantId: number; credentialId: string }>(
      `SELECT c.tenant_id AS "tenantId", c.id AS "credentialId" FROM credential AS c JOIN bench_secret AS s ON s.credential_id = c.id
       WHERE c.audience = 'third_party' ORDER BY s.number DESC, c.tenant_id DESC LIMIT 1`,
    );
    for (const owner of rows) {
      await storeOrdersOf(client, owner, LISTED, sizes.listedOrders);
    }
    tell(`storing ${sizes.manyOrders} orders of all credentials`);
    await storeOrders(client, sizes.manyOrders, 'past');
    tell(`storing ${sizes.pastStays} past stays`);
    await storePastStays(client, sizes.pastStays);
    await client.query('VACUUM (FREEZE, ANALYZE)');
  });
}

/**
 * Stores past stays of the first tenant. Also stores the number of rooms that these stays hold in each night of each room type. The stays
 * are spread over the tenant's room types and the last ten years.
 */
async function storePastStays(client: pg.Client, count: number): Promise<void> {
  await client.query(
    `INSERT INTO reservation (tenant_id, id, natural_id, credential_id, external_reservation_id, status, room_type_id, rate_plan_id,
       check_in, check_out, guests, guest_name, guest_search_name, guest_phone, guest_digits, guest_email, guest_search_email,
       total_amount, currency, created_at, changed_at)
     SELECT r.tenant_id, uuidv7(interval '-30 days'), 'PAST-' || number, c.id, 'past-' || number, 'completed', r.id, p.id,
       current_date - 4 - number % 3650, current_date - 1 - number % 3650, 2, 'Ana Silva', 'ana silva', '+351 900 000 000',
       '351900000000', 'ana@example.com', 'ana@example.com', 285.00, 'EUR', now() - interval '30 days', now() - interval '30 days'
     FROM generate_series(1, $1::int) AS number
     JOIN (SELECT *, row_number() OVER (ORDER BY position) - 1 AS place, count(*) OVER () AS places
           FROM room_type WHERE tenant_id = (SELECT min(id) FROM tenant)) AS r ON r.place = number % r.places
     JOIN rate_plan AS p ON p.tenant_id = r.tenant_id AND p.room_type_id = r.id
     JOIN LATERAL (SELECT id FROM credential WHERE tenant_id = r.tenant_id AND audience = 'third_party' ORDER BY id LIMIT 1) AS c ON true`,
    [count],
  );
  await client.query(`
    INSERT INTO night (tenant_id, room_type_id, date, held)
    SELECT tenant_id, room_type_id, check_in + night, count(*)
    FROM reservation, generate_series(0, 2) AS night WHERE natural_id LIKE 'PAST-%'
    GROUP BY tenant_id, room_type_id, check_in + night`);
}
