import { sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';
import { startTurn } from '../lib/turn.ts';
import type { FilledDish, Sections } from './menu-document.ts';

/** A section with the times it was first and last written, ISO 8601. */
export type Stamped<T> = T & { created_at: string; updated_at: string };
export type StampedSections = { [K in keyof Sections]: Stamped<Sections[K][number]>[] };

export interface StoredDish extends FilledDish {
  id: string;
  position: number;
}

export interface StoredMenu {
  version: number;
  sections: StampedSections;
  /** In the order of the menu document. */
  dishes: StoredDish[];
}

const NO_SECTIONS: StampedSections = { kitchens: [], categories: [], sub_menus: [], menu_sets: [] };

/** The number that changes with every change of the menu; 0 where there is none. */
export async function readMenuVersion(db: Database, tenantId: number): Promise<number> {
  const row = await db.selectFrom('menu').select('version').where('tenant_id', '=', tenantId).executeTakeFirst();
  return row?.version ?? 0;
}

/** The whole menu as of one moment. */
export async function readMenu(db: Database, tenantId: number): Promise<StoredMenu> {
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
        dishes: await readDishes(tx, tenantId),
      };
    });
}

/** Makes the tenant's menu row where it is missing and locks it: changes of one menu happen one after the other. */
export async function lockMenu(tx: Tx, tenantId: number): Promise<StoredMenu> {
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
  return {
    version: menu.version,
    sections: menu.sections as StampedSections,
    dishes: await readDishes(tx, tenantId),
  };
}

/** Read at a time: what comes at once is made into objects at once. */
const DISHES_A_STATEMENT = 500;

/** Must be called where nothing else changes the menu: in a snapshot, or under its lock. */
async function readDishes(tx: Tx, tenantId: number): Promise<StoredDish[]> {
  const dishes: StoredDish[] = [];
  for (;;) {
    const last = dishes.at(-1);
    const all = tx.selectFrom('dish').selectAll().where('tenant_id', '=', tenantId);
    const rest =
      last === undefined
        ? all
        : all.where((eb) => eb(eb.refTuple('position', 'id'), '>', eb.tuple(last.position, last.id)));
    const rows = await rest.orderBy('position').orderBy('id').limit(DISHES_A_STATEMENT).execute();
    for (const { tenant_id, ...dish } of rows) {
      dishes.push(dish as unknown as StoredDish);
    }
    if (rows.length < DISHES_A_STATEMENT) {
      return dishes;
    }
  }
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

/** In UTF-16 code units; a dish that is longer goes alone. */
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

/** As one parameter: nineteen for each of a thousand dishes hold the event loop for longer than the database takes. */
async function upsertTexts(tx: Tx, tenantId: number, dishes: string[]): Promise<void> {
  await sql`
    INSERT INTO dish (tenant_id, id, sku, position, name, description, dish_type, price, is_active, is_taxable,
      extra_tax_percentage, image, category, sub_menu, kitchen, menu_set, price_variants, addons, ingredients)
    SELECT ${tenantId}, id, sku, position, name, description, dish_type, price, is_active, is_taxable,
      extra_tax_percentage, image, category, sub_menu, kitchen, menu_set, price_variants, addons, ingredients
    FROM json_to_recordset(${`[${dishes.join(',')}]`}) AS wanted (id uuid, sku text, position integer, name text,
      description text, dish_type text, price numeric, is_active boolean, is_taxable boolean,
      extra_tax_percentage numeric, image text, category text, sub_menu text, kitchen text, menu_set text,
      price_variants jsonb, addons jsonb, ingredients jsonb)
    ON CONFLICT (tenant_id, sku) DO UPDATE SET
      position = excluded.position, name = excluded.name, description = excluded.description,
      dish_type = excluded.dish_type, price = excluded.price, is_active = excluded.is_active,
      is_taxable = excluded.is_taxable, extra_tax_percentage = excluded.extra_tax_percentage, image = excluded.image,
      category = excluded.category, sub_menu = excluded.sub_menu, kitchen = excluded.kitchen,
      menu_set = excluded.menu_set, price_variants = excluded.price_variants, addons = excluded.addons,
      ingredients = excluded.ingredients
  `.execute(tx);
}
