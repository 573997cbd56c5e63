import type pg from 'pg';

/** Order lines as JSON, in the form in which the service stores them. */
export const LINES = JSON.stringify(
  ['Papadom', 'Vegetable samosa', 'Mango lassi'].map((name, index) => ({
    sku: `STORED-${index}`,
    name,
    variant: null,
    quantity: 2,
    unit_price: '4.50',
    addons: [],
    extra_tax_percentage: '0.00',
    total: '9.00',
  })),
);

const ORDER_COLUMNS = `tenant_id, id, credential_id, external_order_id, status, order_type, customer_name, customer_search_name,
  customer_phone, customer_digits, delivery_address, notes, lines, total, currency, created_at, status_changed_at`;

/**
 * Stores about `count` orders that were placed 30 days ago, with the same number for each third-party credential. The external ids of each
 * credential's orders are `<prefix>-1`, `<prefix>-2` and so on.
 */
export async function storeOrders(client: pg.Client, count: number, prefix = 'stored'): Promise<void> {
  await client.query(
    `INSERT INTO restaurant_order (${ORDER_COLUMNS})
     SELECT tenant_id, uuidv7(interval '-30 days'), id, $3::text || '-' || number, 'pending', 'delivery', 'Ana Silva', 'ana silva', '+351 900 000 000', '351900000000',
       '14 Rua do Cais, Porto', 'ring twice', $1::json, 27.00, 'EUR', now() - interval '30 days', now() - interval '30 days'
     FROM credential, generate_series(1, $2::int / (SELECT count(*)::int FROM credential WHERE audience = 'third_party')) AS number
     WHERE audience = 'third_party' ORDER BY tenant_id, id, number`,
    [LINES, count, prefix],
  );
}

/** Stores `count` new orders of one credential, and returns their ids, oldest first. */
export async function storeOrdersOf(
  client: pg.Client,
  { tenantId, credentialId }: { tenantId: number; credentialId: string },
  prefix: string,
  count: number,
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO restaurant_order (${ORDER_COLUMNS})
     SELECT $1::bigint, uuidv7(), $2::uuid, $3::text || number, 'pending', 'delivery', 'Ana Silva', 'ana silva', '+351 900 000 000', '351900000000',
       '14 Rua do Cais, Porto', 'ring twice', $4::json, 27.00, 'EUR', now(), now()
     FROM generate_series(1, $5::int) AS number ORDER BY number
     RETURNING id`,
    [tenantId, credentialId, prefix, LINES, count],
  );
  return rows.map((row) => row.id);
}
