import { sql } from 'kysely';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import type { MenuTexts, MenuWrites, StampedSections, StoredDish } from './stored-menu.ts';

const NO_SECTIONS = JSON.stringify({
  kitchens: [],
  categories: [],
  sub_menus: [],
  menu_sets: [],
} satisfies StampedSections);

/** Fields of a dish of the menu document. */
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
/** Fields of `StoredDish`. */
const STORED_FIELDS = ['id', 'position', ...DOCUMENT_FIELDS] as const;
/** Fields that are decimals in the table and texts in a dish. */
const DECIMALS: ReadonlySet<string> = new Set(['price', 'extra_tax_percentage']);

/** Returns the version of the menu, which every change of the menu raises. Returns 0 if the tenant has no menu. */
export async function readMenuVersion(db: Database, tenantId: number): Promise<number> {
  const row = await db.selectFrom('menu').select('version').where('tenant_id', '=', tenantId).executeTakeFirst();
  return row?.version ?? 0;
}

/**
 * Returns the era of the database, a number that each restore from a backup raises. After a restore, a menu may get a version number that
 * it had before. So only version and era together identify a menu.
 */
export async function readEra(db: Db): Promise<number> {
  return (await db.selectFrom('feed_era').select('era').executeTakeFirstOrThrow()).era;
}

/** Dishes to read: all with their stored fields, the active ones with their stored fields, or all as the menu document has them. */
type Reading = 'stored' | 'listed' | 'document';

/** Reads a menu. */
export async function readMenu(db: Db, tenantId: number, reading: Reading): Promise<MenuTexts & { version: number }> {
  const menu = await db
    .selectFrom('menu')
    .select(['version', sql<string>`sections::text`.as('sections'), dishesOf(tenantId, reading).as('dishes')])
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  return menu ?? { version: 0, sections: NO_SECTIONS, dishes: '[]' };
}

/** Selects the dishes as one JSON text. The driver would need long for a row of each dish. */
function dishesOf(tenantId: number, reading: Reading) {
  const fields = reading === 'document' ? DOCUMENT_FIELDS : STORED_FIELDS;
  const listed = reading === 'listed' ? sql`AND is_active` : sql``;
  return sql<string>`(
    SELECT '[' || coalesce(string_agg(${jsonOf(fields)}, ',' ORDER BY position, id), '') || ']'
    FROM dish WHERE tenant_id = ${tenantId} ${listed}
  )`;
}

/**
 * Locks the tenant's menu row and returns its version and the JSON of its sections. Inserts the row first if it is missing. The lock makes
 * changes of one menu happen one after the other.
 */
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

/** Reads one dish of a locked menu. */
export async function readLockedDish(tx: Tx, tenantId: number, sku: string): Promise<StoredDish | undefined> {
  const row = await tx
    .selectFrom('dish')
    .select(jsonOf(STORED_FIELDS).as('json'))
    .where('tenant_id', '=', tenantId)
    .where('sku', '=', sku)
    .executeTakeFirst();
  return row && (JSON.parse(row.json) as StoredDish);
}

/**
 * Returns a map by sku. The value is true if the dish is active, and false if it is inactive. The map has no entry for a sku without a
 * stored dish.
 */
export async function readActivity(tx: Tx, tenantId: number, skus: string[]): Promise<Map<string, boolean>> {
  const rows = await tx
    .selectFrom('dish')
    .select(['sku', 'is_active'])
    .where('tenant_id', '=', tenantId)
    .where(sql<boolean>`sku = ANY(${skus}::text[])`)
    .execute();
  return new Map(rows.map(({ sku, is_active }) => [sku, is_active]));
}

/** Sets `is_active` of the dishes of a locked menu, by one statement. */
export async function setActive(tx: Tx, tenantId: number, skus: string[], isActive: boolean): Promise<void> {
  await tx
    .updateTable('dish')
    .set({ is_active: isActive })
    .where('tenant_id', '=', tenantId)
    .where(sql<boolean>`sku = ANY(${skus}::text[])`)
    .execute();
}

/** Counts the active dishes of each category. */
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

/** Selects fields of a dish as a JSON text. `to_json` writes it without spaces, as the rest of a document is. */
function jsonOf(fields: readonly string[]) {
  const values = fields.map((field) =>
    DECIMALS.has(field) ? sql`${sql.ref(field)}::text AS ${sql.ref(field)}` : sql.ref(field),
  );
  return sql<string>`(SELECT to_json(shown) FROM (SELECT ${sql.join(values)}) AS shown)::text`;
}

/** Sets the version of a locked menu. */
export async function setVersion(tx: Tx, tenantId: number, version: number): Promise<void> {
  await tx.updateTable('menu').set({ version }).where('tenant_id', '=', tenantId).execute();
}

/** Writes the changes of a locked menu. @param version the new version */
export async function writeMenu(tx: Tx, tenantId: number, version: number, writes: MenuWrites): Promise<void> {
  for (const dishes of writes.dishes) {
    await upsertDishes(tx, tenantId, dishes);
  }
  const { sections } = writes;
  await tx.updateTable('menu').set({ version, sections }).where('tenant_id', '=', tenantId).execute();
}

/**
 * Inserts or updates dishes. Passes all dishes as one JSON parameter, because a statement with nineteen parameters for each dish is slow to
 * build. For a thousand dishes, building it would block the event loop for longer than the database needs to run it.
 *
 * A database cluster keeps all rows of a tenant on one node. The cluster sends a statement directly to this node only if the statement has
 * a condition on the column `tenant_id` of a table. The JSON parameter has no such column. So the statement also reads the tenant's row of
 * the table `menu`, with a condition on `menu.tenant_id`.
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
