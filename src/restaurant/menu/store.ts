import { sql } from 'kysely';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import type { MenuTexts, StampedSections, StoredDish } from './stored-menu.ts';

const NO_SECTIONS = JSON.stringify({
  kitchens: [],
  categories: [],
  sub_menus: [],
  menu_sets: [],
} satisfies StampedSections);

const DOCUMENT_FIELDS = [
  'sku',
  'name',
  'description',
  'dish_type',
  'price',
  'is_active',
  'is_taxable',
  'extra_tax_percentage',
  'image',
  'category',
  'sub_menu',
  'kitchen',
  'menu_set',
  'price_variants',
  'addons',
  'ingredients',
] as const;
const STORED_FIELDS = ['id', 'position', ...DOCUMENT_FIELDS] as const;
const DECIMALS: ReadonlySet<string> = new Set(['price', 'extra_tax_percentage']);

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
  const fields = reading === 'document' ? DOCUMENT_FIELDS : STORED_FIELDS;
  const listed = reading === 'listed' ? sql`AND is_active` : sql``;
  return sql<string>`(
    SELECT '[' || coalesce(string_agg(${jsonOf(fields)}, ',' ORDER BY position, id), '') || ']'
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
    .select(jsonOf(STORED_FIELDS).as('json'))
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
function jsonOf(fields: readonly string[]) {
  const values = fields.map((field) =>
    DECIMALS.has(field) ? sql`${sql.ref(field)}::text AS ${sql.ref(field)}` : sql.ref(field),
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
  await sql`
    INSERT INTO dish (tenant_id, id, sku, position, name, description, dish_type, price, is_active, is_taxable,
      extra_tax_percentage, image, category, sub_menu, kitchen, menu_set, price_variants, addons, ingredients)
    SELECT menu.tenant_id, id, sku, position, name, description, dish_type, price, is_active, is_taxable,
      extra_tax_percentage, image, category, sub_menu, kitchen, menu_set, price_variants, addons, ingredients
    FROM menu CROSS JOIN json_to_recordset(${dishes}) AS wanted (id uuid, sku text, position integer, name text,
      description text, dish_type text, price numeric, is_active boolean, is_taxable boolean,
      extra_tax_percentage numeric, image text, category text, sub_menu text, kitchen text, menu_set text,
      price_variants jsonb, addons jsonb, ingredients jsonb)
    WHERE menu.tenant_id = ${tenantId}
    ON CONFLICT (tenant_id, sku) DO UPDATE SET
      position = excluded.position, name = excluded.name, description = excluded.description,
      dish_type = excluded.dish_type, price = excluded.price, is_active = excluded.is_active,
      is_taxable = excluded.is_taxable, extra_tax_percentage = excluded.extra_tax_percentage, image = excluded.image,
      category = excluded.category, sub_menu = excluded.sub_menu, kitchen = excluded.kitchen,
      menu_set = excluded.menu_set, price_variants = excluded.price_variants, addons = excluded.addons,
      ingredients = excluded.ingredients
  `.execute(tx);
}
