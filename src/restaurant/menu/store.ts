import { sql } from 'kysely';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import type { MenuTexts, StampedSections, StoredDish } from './stored-menu.ts';

const NO_SECTIONS = JSON.stringify({
  kitchens: [],
  categories: [],
  sub_menus: [],
  menu_sets: [],
} satisfies StampedSections);

/** Columns of a dish that the menu document has, with their types in JSON. */
const DOCUMENT_COLUMNS = {
  sku: 'text',
  name: 'text',
  description: 'text',
  dish_type: 'text',
  price: 'numeric',
  is_active: 'boolean',
  is_taxable: 'boolean',
  extra_tax_percentage: 'numeric',
  image: 'text',
  category: 'text',
  sub_menu: 'text',
  kitchen: 'text',
  menu_set: 'text',
  price_variants: 'jsonb',
  addons: 'jsonb',
  ingredients: 'jsonb',
};
const STORED_COLUMNS = { id: 'uuid', position: 'integer', ...DOCUMENT_COLUMNS };

/** Every change of the menu raises its version. A tenant without a menu has version 0. */
export async function readMenuVersion(db: Database, tenantId: number): Promise<number> {
  const row = await db.selectFrom('menu').select('version').where('tenant_id', '=', tenantId).executeTakeFirst();
  return row?.version ?? 0;
}

/** Each restore from a backup raises the era, so only version and era together identify a menu. */
export async function readEra(db: Db): Promise<number> {
  return (await db.selectFrom('feed_era').select('era').executeTakeFirstOrThrow()).era;
}

/** `stored` and `listed` (only active) dishes have their stored fields, `document` those of the menu document. */
type Reading = 'stored' | 'listed' | 'document';

export async function readMenu(db: Db, tenantId: number, reading: Reading): Promise<MenuTexts & { version: number }> {
  const menu = await db
    .selectFrom('menu')
    .select(['version', sql<string>`sections::text`.as('sections'), dishesOf(tenantId, reading).as('dishes')])
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  return menu ?? { version: 0, sections: NO_SECTIONS, dishes: '[]' };
}

/** One JSON text, because the driver would need long for a row of each dish. */
function dishesOf(tenantId: number, reading: Reading) {
  const columns = reading === 'document' ? DOCUMENT_COLUMNS : STORED_COLUMNS;
  const listed = reading === 'listed' ? sql`AND is_active` : sql``;
  return sql<string>`(
    SELECT '[' || coalesce(string_agg(${jsonOf(columns)}, ',' ORDER BY position, id), '') || ']'
    FROM dish WHERE tenant_id = ${tenantId} ${listed}
  )`;
}

/** Inserts the row if it is missing. The lock makes changes of one menu happen one after the other. */
export async function lockMenu(tx: Tx, tenantId: number): Promise<{ version: number; sections: string }> {
  await tx
    .insertInto('menu')
    .values({ tenant_id: tenantId, version: 0, sections: NO_SECTIONS })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return await tx
    .selectFrom('menu')
    .select(['version', sql<string>`sections::text`.as('sections')])
    .where('tenant_id', '=', tenantId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

export async function readLockedDish(tx: Tx, tenantId: number, sku: string): Promise<StoredDish | undefined> {
  const row = await tx
    .selectFrom('dish')
    .select(jsonOf(STORED_COLUMNS).as('json'))
    .where('tenant_id', '=', tenantId)
    .where('sku', '=', sku)
    .executeTakeFirst();
  return row && (JSON.parse(row.json) as StoredDish);
}

export async function readActivity(tx: Tx, tenantId: number, skus: string[]): Promise<Map<string, boolean>> {
  const rows = await tx
    .selectFrom('dish')
    .select(['sku', 'is_active'])
    .where('tenant_id', '=', tenantId)
    .where(sql<boolean>`sku = ANY(${skus}::text[])`)
    .execute();
  return new Map(rows.map(({ sku, is_active }) => [sku, is_active]));
}

export async function setActive(tx: Tx, tenantId: number, skus: string[], isActive: boolean): Promise<void> {
  await tx
    .updateTable('dish')
    .set({ is_active: isActive })
    .where('tenant_id', '=', tenantId)
    .where(sql<boolean>`sku = ANY(${skus}::text[])`)
    .execute();
}

export async function countListed(tx: Tx, tenantId: number): Promise<Map<string, number>> {
  const rows = await tx
    .selectFrom('dish')
    .select((eb) => ['category', eb.fn.countAll<number>().as('count')])
    .where('tenant_id', '=', tenantId)
    .where('is_active', '=', true)
    .groupBy('category')
    .execute();
  return new Map(rows.map(({ category, count }) => [category, count]));
}

/** `to_json` writes no spaces, as the rest of a document. */
function jsonOf(columns: Record<string, string>) {
  const values = Object.entries(columns).map(([column, type]) =>
    sql.raw(type === 'numeric' ? `${column}::text AS ${column}` : column),
  );
  return sql<string>`(SELECT to_json(shown) FROM (SELECT ${sql.join(values)}) AS shown)::text`;
}

export async function setVersion(tx: Tx, tenantId: number, version: number): Promise<void> {
  await tx.updateTable('menu').set({ version }).where('tenant_id', '=', tenantId).execute();
}

export async function writeMenu(tx: Tx, tenantId: number, version: number, writes: MenuTexts): Promise<void> {
  const { sections, dishes } = writes;
  await upsertDishes(tx, tenantId, dishes);
  await tx.updateTable('menu').set({ version, sections }).where('tenant_id', '=', tenantId).execute();
}

/**
 * Passes all dishes as one JSON parameter, because a statement with nineteen parameters for each dish is slow to build. Reads the tenant's
 * row of `menu`, because a cluster sends a statement to one node only if it has a condition on the `tenant_id` of a table.
 */
export async function upsertDishes(tx: Tx, tenantId: number, dishes: string): Promise<void> {
  const names = Object.keys(STORED_COLUMNS);
  const columns = sql.raw(names.join(', '));
  const types = Object.entries(STORED_COLUMNS).map(([name, type]) => `${name} ${type}`);
  const changes = names.filter((name) => name !== 'id' && name !== 'sku').map((name) => `${name} = excluded.${name}`);
  await sql`
    INSERT INTO dish (tenant_id, ${columns})
    SELECT menu.tenant_id, ${columns} FROM menu CROSS JOIN json_to_recordset(${dishes}) AS wanted (${sql.raw(types.join(', '))})
    WHERE menu.tenant_id = ${tenantId}
    ON CONFLICT (tenant_id, sku) DO UPDATE SET ${sql.raw(changes.join(', '))}
  `.execute(tx);
}
