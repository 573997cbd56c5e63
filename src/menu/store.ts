import type { Database, Tx } from '../db/database.ts';
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

async function readDishes(tx: Tx, tenantId: number): Promise<StoredDish[]> {
  const rows = await tx
    .selectFrom('dish')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('position')
    .orderBy('id')
    .execute();
  return rows.map(({ tenant_id, ...dish }) => dish as unknown as StoredDish);
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

/** PostgreSQL takes 65,535 parameters a statement; a dish has 19. */
const ROWS_PER_STATEMENT = 1_000;

export async function upsertDishes(tx: Tx, tenantId: number, dishes: StoredDish[]): Promise<void> {
  for (let start = 0; start < dishes.length; start += ROWS_PER_STATEMENT) {
    await tx
      .insertInto('dish')
      .values(dishes.slice(start, start + ROWS_PER_STATEMENT).map((dish) => dishRow(tenantId, dish)))
      .onConflict((conflict) =>
        conflict.columns(['tenant_id', 'sku']).doUpdateSet((eb) => ({
          position: eb.ref('excluded.position'),
          name: eb.ref('excluded.name'),
          description: eb.ref('excluded.description'),
          dish_type: eb.ref('excluded.dish_type'),
          price: eb.ref('excluded.price'),
          is_active: eb.ref('excluded.is_active'),
          is_taxable: eb.ref('excluded.is_taxable'),
          extra_tax_percentage: eb.ref('excluded.extra_tax_percentage'),
          image: eb.ref('excluded.image'),
          category: eb.ref('excluded.category'),
          sub_menu: eb.ref('excluded.sub_menu'),
          kitchen: eb.ref('excluded.kitchen'),
          menu_set: eb.ref('excluded.menu_set'),
          price_variants: eb.ref('excluded.price_variants'),
          addons: eb.ref('excluded.addons'),
          ingredients: eb.ref('excluded.ingredients'),
        })),
      )
      .execute();
  }
}

function dishRow(tenantId: number, dish: StoredDish) {
  return {
    ...dish,
    tenant_id: tenantId,
    price_variants: JSON.stringify(dish.price_variants),
    addons: JSON.stringify(dish.addons),
    ingredients: JSON.stringify(dish.ingredients),
  };
}
