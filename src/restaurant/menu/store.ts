import { sql } from 'kysely';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import { mapInTurns, startTurn } from '#platform/lib/turn.ts';
import type { FilledDish, Sections } from './menu-document.ts';

/** Section with the times when it was created and last changed, in ISO 8601. */
export type Stamped<T> = T & { created_at: string; updated_at: string };
export type StampedSections = { [K in keyof Sections]: Stamped<Sections[K][number]>[] };

export interface StoredDish extends FilledDish {
  id: string;
  position: number;
}

export interface StoredMenu {
  version: number;
  sections: StampedSections;
  /** Dishes in the order of the menu document. */
  dishes: StoredDish[];
}

const NO_SECTIONS: StampedSections = { kitchens: [], categories: [], sub_menus: [], menu_sets: [] };

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

/** Reads the whole menu in one snapshot. */
export async function readMenu(db: Database, tenantId: number): Promise<StoredMenu> {
  return await readMenuAs(db, tenantId, dishOf);
}

/** Reads the whole menu in one snapshot, and converts each dish row with `make`. Yields to the event loop regularly. */
export async function readMenuAs<Made>(
  db: Database,
  tenantId: number,
  make: (row: DishRow) => Made,
): Promise<Omit<StoredMenu, 'dishes'> & { dishes: Made[] }> {
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const menu = await tx
        .selectFrom('menu')
        .select(['version', 'sections'])
        .where('tenant_id', '=', tenantId)
        .executeTakeFirst();
      return {
        version: menu?.version ?? 0,
        sections: (menu?.sections as StampedSections | undefined) ?? NO_SECTIONS,
        dishes: await readDishes(tx, tenantId, make),
      };
    });
}

/** Reads the whole menu, and locks it until the transaction ends. */
export async function lockMenu(tx: Tx, tenantId: number): Promise<StoredMenu> {
  return { ...(await lockSections(tx, tenantId)), dishes: await readLockedDishes(tx, tenantId) };
}

/**
 * Locks the tenant's menu row and returns its version and sections. Inserts the row first if it is missing. The lock makes changes of one
 * menu happen one after the other.
 */
export async function lockSections(tx: Tx, tenantId: number): Promise<Omit<StoredMenu, 'dishes'>> {
  await tx
    .insertInto('menu')
    .values({ tenant_id: tenantId, version: 0, sections: JSON.stringify(NO_SECTIONS) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const menu = await tx
    .selectFrom('menu')
    .select(['version', 'sections'])
    .where('tenant_id', '=', tenantId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return { version: menu.version, sections: menu.sections as StampedSections };
}

/** Reads the dishes of a locked menu. */
export async function readLockedDishes(tx: Tx, tenantId: number): Promise<StoredDish[]> {
  return await readDishes(tx, tenantId, dishOf);
}

/** Reads one dish of a locked menu. */
export async function readLockedDish(tx: Tx, tenantId: number, sku: string): Promise<StoredDish | undefined> {
  const row = await selectDishes(tx, tenantId).where('sku', '=', sku).executeTakeFirst();
  return row && dishOf(row as DishRow);
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

/**
 * Maximum number of dishes that one statement reads. The driver parses all rows of a statement without a pause, so many rows would block
 * the event loop.
 */
const DISHES_A_STATEMENT = 500;

const SCALARS = [
  'id',
  'sku',
  'position',
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
] as const;

/** Row of the table `dish`. Its lists are the JSON texts from the database, not parsed. */
export interface DishRow extends Omit<StoredDish, 'price_variants' | 'addons' | 'ingredients'> {
  price_variants: string;
  addons: string;
  ingredients: string;
}

function selectDishes(tx: Tx, tenantId: number) {
  return tx
    .selectFrom('dish')
    .select(SCALARS)
    .select([
      sql<string>`price_variants::text`.as('price_variants'),
      sql<string>`addons::text`.as('addons'),
      sql<string>`ingredients::text`.as('ingredients'),
    ])
    .where('tenant_id', '=', tenantId);
}

/**
 * Reads all dishes in several statements. The transaction must be `repeatable read` or hold the lock of the menu, so that all statements
 * read the same menu.
 */
async function readDishes<Made>(tx: Tx, tenantId: number, make: (row: DishRow) => Made): Promise<Made[]> {
  const all = selectDishes(tx, tenantId).orderBy('position').orderBy('id').limit(DISHES_A_STATEMENT);
  const made: Made[] = [];
  for (let rest = all; ; ) {
    const rows = (await rest.execute()) as DishRow[];
    made.push(...(await mapInTurns(rows, make)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < DISHES_A_STATEMENT) {
      return made;
    }
    rest = all.where((eb) => eb(eb.refTuple('position', 'id'), '>', eb.tuple(last.position, last.id)));
  }
}

/**
 * Converts a row to a dish, and parses its lists. The database driver does not parse the lists, because it would parse the lists of all
 * rows without a pause. With 5 MiB of lists, this blocked the event loop for 60 ms.
 */
function dishOf({ price_variants, addons, ingredients, ...scalars }: DishRow): StoredDish {
  return {
    ...scalars,
    price_variants: JSON.parse(price_variants),
    addons: JSON.parse(addons),
    ingredients: JSON.parse(ingredients),
  };
}

/** Sets the version of a locked menu. */
export async function setVersion(tx: Tx, tenantId: number, version: number): Promise<void> {
  await tx.updateTable('menu').set({ version }).where('tenant_id', '=', tenantId).execute();
}

export async function updateMenu(
  tx: Tx,
  tenantId: number,
  menu: { version: number; sections: StampedSections },
): Promise<void> {
  await tx
    .updateTable('menu')
    .set({ version: menu.version, sections: JSON.stringify(menu.sections) })
    .where('tenant_id', '=', tenantId)
    .execute();
}

/**
 * Limit for the JSON of all dishes in one upsert statement, in UTF-16 code units. When the JSON reaches this length, the statement takes no
 * further dish. The dish that reaches this length is still part of the statement.
 */
const STATEMENT_LENGTH = 256 * 1024;

export async function upsertDishes(tx: Tx, tenantId: number, dishes: StoredDish[]): Promise<void> {
  const turn = startTurn();
  let texts: string[] = [];
  let length = 0;
  for (const [index, dish] of dishes.entries()) {
    const text = JSON.stringify(dish);
    texts.push(text);
    length += text.length;
    if (length >= STATEMENT_LENGTH || index === dishes.length - 1) {
      await upsertTexts(tx, tenantId, texts);
      texts = [];
      length = 0;
    }
    if (turn.isOver()) {
      await turn.next();
    }
  }
}

/**
 * Inserts or updates dishes. Passes all dishes as one JSON parameter, because a statement with nineteen parameters for each dish is slow to
 * build. For a thousand dishes, building it would block the event loop for longer than the database needs to run it.
 *
 * A database cluster keeps all rows of a tenant on one node. The cluster sends a statement directly to this node only if the statement has
 * a condition on the column `tenant_id` of a table. The JSON parameter has no such column. So the statement also reads the tenant's row of
 * the table `menu`, with a condition on `menu.tenant_id`.
 */
async function upsertTexts(tx: Tx, tenantId: number, dishes: string[]): Promise<void> {
  await sql`
    INSERT INTO dish (tenant_id, id, sku, position, name, description, dish_type, price, is_active, is_taxable,
      extra_tax_percentage, image, category, sub_menu, kitchen, menu_set, price_variants, addons, ingredients)
    SELECT menu.tenant_id, id, sku, position, name, description, dish_type, price, is_active, is_taxable,
      extra_tax_percentage, image, category, sub_menu, kitchen, menu_set, price_variants, addons, ingredients
    FROM menu CROSS JOIN json_to_recordset(${`[${dishes.join(',')}]`}) AS wanted (id uuid, sku text, position integer, name text,
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
