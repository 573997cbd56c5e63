import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { createKeyMaker, newSecret } from '#access/credentials/credentials.ts';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { migrateToLatest } from '#platform/db/migrate.ts';
import { openKeyring } from '#platform/keys/keys.ts';
import { newId } from '#platform/lib/ids.ts';
import { applyTenantDocument } from '#service/tenant-document/tenant-document.ts';
import type { Sizes } from './options.ts';
import { tell } from './progress.ts';
import { withConnection } from './sql.ts';
import { storeOrders } from './stored.ts';

export const OWNER_PASSWORD = 'the owner of a bench';
/**
 * Number of staff users of each tenant in addition to the owner: `staff-1@…`, `staff-2@…` and so on, with the same password. Several users
 * are needed because each user may sign in only ten times a minute.
 */
export const STAFF = 9;
/** Number of nights for which each room type has a row in the table `night`. */
export const SEEDED_NIGHTS = 365;
/** Number of nights for which each rate plan has a row in the table `rate`. */
const PRICED_NIGHTS = 90;
/** Number of rooms of each room type. It is so large that no booking of the benchmark is refused because all rooms are taken. */
export const CAPACITY = 1_000_000;

/**
 * Fills an empty database with tenants. Each tenant has the menu of the demo tenant, room types with nights for a year, credentials and a
 * few orders. The first tenant is made from a tenant document, as the command `roomservice tenant apply` makes a tenant. Then its rows are
 * copied for all other tenants. The API secrets are stored as plain text in the table `bench_secret`, which the service does not use.
 */
export async function seedTenants(url: string, masterKey: Buffer, sizes: Sizes): Promise<void> {
  const db = createDatabase({ url, poolSize: 4, hasNoTimeLimit: true, isPrepared: false });
  try {
    await migrateToLatest(db);
    const first = await applyTenantDocument(db, await firstTenantDocument(sizes.roomTypes));
    await withConnection(url, async (client) => {
      await client.query('SET session_replication_role = replica; SET synchronous_commit = off');
      await copyFirstTenant(client, first.tenant_id, sizes.tenants);
      tell('storing nights and prices');
      await fillNights(client);
      tell('storing credentials and orders');
      await issueCredentials(client, db, masterKey, sizes.credentialsPerTenant);
      await storeOrders(client, sizes.fewOrders);
      await client.query('VACUUM (FREEZE, ANALYZE)');
    });
  } finally {
    await db.destroy();
  }
}

/** Returns the tenant document of the first tenant: the menu of the demo tenant, and a hotel with the given number of room types. */
async function firstTenantDocument(roomTypes: number): Promise<object> {
  const demo = JSON.parse(await readFile(join(import.meta.dirname, '../examples/demo/tenant.json'), 'utf8')) as object;
  return {
    ...demo,
    slug: 'bench-1',
    features: ['restaurant', 'hotel'],
    users: [{ email: 'owner@bench-1.example', password: OWNER_PASSWORD, role: 'owner' }],
    properties: [
      {
        name: 'Harbour House',
        country_code: 'PT',
        timezone: 'Europe/Lisbon',
        room_types: Array.from({ length: roomTypes }, (_, index) => ({
          name: `Room type ${index + 1}`,
          max_occupancy: 4,
          base_price: '90.00',
          physical_capacity: CAPACITY,
          rate_plans: [{ name: 'Flexible', base_price: '95.00' }],
        })),
      },
    ],
  };
}

/**
 * Copies the rows of the first tenant for every other tenant. The id of a copy is a hash of the other tenant's id and the original id. The
 * ids by which a row refers to other rows are hashed in the same way, so a copied row refers to copies.
 */
async function copyFirstTenant(client: pg.Client, firstTenantId: number, tenants: number): Promise<void> {
  await client.query(`
    INSERT INTO tenant (slug, name, currency, timezone, features)
    SELECT 'bench-' || number, name, currency, timezone, features
    FROM tenant, generate_series(2, ${tenants}) AS number ORDER BY number`);
  const idOf = (column: string) => `md5(t.id || ' ' || s.${column})::uuid`;
  const copies: Record<string, Record<string, string>> = {
    menu: {},
    dish: { id: idOf('id') },
    property: { id: idOf('id') },
    room_type: { id: idOf('id'), property_id: idOf('property_id') },
    rate_plan: { id: idOf('id'), room_type_id: idOf('room_type_id') },
    app_user: { id: idOf('id'), email: `'owner@' || t.slug || '.example'` },
  };
  for (const [table, changes] of Object.entries(copies)) {
    tell(`copying the rows of ${table} for ${tenants} tenants`);
    const columns = await columnsOf(client, table);
    const values = columns.map((column) => ({ tenant_id: 't.id', ...changes })[column] ?? `s.${column}`);
    await client.query(
      `INSERT INTO ${table} (${columns.join()})
       SELECT ${values.join()} FROM tenant AS t, ${table} AS s WHERE s.tenant_id = $1 AND t.id <> $1`,
      [firstTenantId],
    );
  }
  await client.query(`
    INSERT INTO app_user (tenant_id, id, email, password_hash, role)
    SELECT tenant_id, md5(id || ' ' || number)::uuid, replace(email, 'owner', 'staff-' || number), password_hash, 'staff'
    FROM app_user, generate_series(1, ${STAFF}) AS number`);
  await client.query(
    `INSERT INTO sign_in (email, tenant_id, user_id) SELECT email, tenant_id, id FROM app_user ON CONFLICT DO NOTHING`,
  );
}

async function columnsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ column_name: string }>(
    'SELECT column_name FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position',
    [table],
  );
  return rows.map((row) => row.column_name);
}

async function fillNights(client: pg.Client): Promise<void> {
  await client.query(`
    INSERT INTO night (tenant_id, room_type_id, date, held)
    SELECT tenant_id, id, current_date + day, day % 7
    FROM room_type, generate_series(0, ${SEEDED_NIGHTS - 1}) AS day ORDER BY tenant_id, id, day`);
  await client.query(`
    INSERT INTO rate (tenant_id, rate_plan_id, date, price, is_sold_out)
    SELECT tenant_id, id, current_date + day, base_price + day % 7, false
    FROM rate_plan, generate_series(0, ${PRICED_NIGHTS - 1}) AS day ORDER BY tenant_id, id, day`);
}

/** Creates `perTenant` third-party credentials and one PMS credential for each tenant, and stores their secrets in `bench_secret`. */
async function issueCredentials(client: pg.Client, db: Database, masterKey: Buffer, perTenant: number): Promise<void> {
  const { pepper } = await openKeyring(db, masterKey);
  const makers = { third_party: createKeyMaker(pepper, 'rsk_'), pms: createKeyMaker(pepper, 'rpk_') };
  const audiences = [...Array.from({ length: perTenant }, () => 'third_party' as const), 'pms' as const];
  const { rows: tenants } = await client.query<{ id: string }>('SELECT id FROM tenant ORDER BY id');
  const issued = audiences.flatMap((audience, number) =>
    tenants.map(({ id }) => {
      const secret = newSecret();
      const maker = makers[audience];
      const credential = { tenant_id: id, id: newId(), audience, api_key: maker.newApiKey(Number(id)) };
      const secret_hash = `\\x${maker.hashSecret(secret).toString('hex')}`;
      return { ...credential, number, api_secret: secret, secret_hash };
    }),
  );
  const rows = [JSON.stringify(issued)];
  await client.query(
    `INSERT INTO credential (tenant_id, id, audience, label, api_key, secret_hash)
     SELECT tenant_id, id, audience, 'bench', api_key, secret_hash
     FROM json_to_recordset($1) AS made (tenant_id bigint, id uuid, audience text, api_key text, secret_hash bytea)`,
    rows,
  );
  await client.query('CREATE TABLE bench_secret (credential_id uuid PRIMARY KEY, number int, api_secret text)');
  await client.query(
    `INSERT INTO bench_secret SELECT id, number, api_secret
     FROM json_to_recordset($1) AS made (id uuid, number int, api_secret text)`,
    rows,
  );
}
