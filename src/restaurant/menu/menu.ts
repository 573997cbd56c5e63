import { isDeepStrictEqual } from 'node:util';
import { type Actor, prepareAudit } from '#access/audit/audit.ts';
import { announceChange } from '#platform/changes/changes.ts';
import type { Database, Db, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { ApiError, apiError, notFound } from '#platform/errors.ts';
import { matchesIfMatch } from '#platform/http/etag.ts';
import { TextPieces } from '#platform/http/streaming.ts';
import { rowsToWrite } from '#platform/lib/changed-rows.ts';
import { describeListChanges } from '#platform/lib/change-list.ts';
import { DEFAULT_BOUNDS } from '#platform/lib/bounds.ts';
import { amountFaults } from '#platform/lib/money.ts';
import { joinFaults } from '#platform/lib/validation.ts';
import { amountsOf, dishFaults, type FilledDish, fillDish, menuFaults, type Sections } from './menu-document.ts';
import type { AppliedMenu } from './menu-changes.ts';
import { compareMenus } from './menu-comparison.ts';
import { refuseGrowth, renderedBytes } from './rendered-size.ts';
import { createRenderer } from './rendering.ts';
import type { DishChange, MenuDocument, StaffDish } from './schema.ts';
import type { MenuComparison } from './staff-schema.ts';
import * as store from './store.ts';
import { changesTo, type WantedMenu, wantedMenu } from './wanted-menu.ts';

export { setAvailability } from './availability.ts';
export { createMenuReader, type ListedMenu, type ReadListedMenu } from './listed-menu.ts';
export { menuChanges } from './menu-changes.ts';
export { menuFaults } from './menu-document.ts';
export { type Dish, MenuDocument } from './schema.ts';

/** Menu document as JSON with its entity tag. The JSON is split into several buffers. */
export interface TaggedMenu {
  pieces: Buffer[];
  etag: string;
}

/** Reads the stored menu as a menu document with all default values. `PUT /v1/staff/menu/` accepts this document. */
export async function readMenuDocument(db: Database, tenantId: number): Promise<TaggedMenu> {
  const dishes = new TextPieces();
  let separator = '';
  const { sections, version } = await store.readMenuAs(db, tenantId, (row) => {
    dishes.add(separator + documentText(row));
    separator = ',';
  });
  const head = `${JSON.stringify(unstamped(sections)).slice(0, -1)},"dishes":[`;
  const pieces = [Buffer.from(head), ...dishes.end(), Buffer.from(']}')];
  return { pieces, etag: tagOf(tenantId, version, await store.readEra(db)) };
}

/** Returns the entity tag of the menu document, without reading the document. */
export async function readMenuTag(db: Database, tenantId: number): Promise<string> {
  const [version, era] = await Promise.all([store.readMenuVersion(db, tenantId), store.readEra(db)]);
  return tagOf(tenantId, version, era);
}

/**
 * Returns the strong entity tag of a version of the menu document (RFC 9110 §8.8.3). Each change raises the version. A restore from a
 * backup brings back an earlier version, so two different menus may have the same version. But each restore also raises the era, so the tag
 * contains the era. The tag contains the tenant too, because the menus of all tenants have the same URL.
 */
function tagOf(tenantId: number, version: number, era: number): string {
  return `"${tenantId}-${era}-${version}"`;
}

/**
 * Returns a dish of the menu document as JSON. The lists in the row are JSON texts already, so the function copies them without parsing.
 */
function documentText({ id, position, price_variants, addons, ingredients, ...scalars }: store.DishRow): string {
  const lists = `"price_variants":${price_variants},"addons":${addons},"ingredients":${ingredients}`;
  return `${JSON.stringify(scalars).slice(0, -1)},${lists}}`;
}

interface Bounds {
  /** Maximum size, in bytes, of the menu in the response to partners. */
  maxRenderedBytes?: number | undefined;
}

interface ReplaceOptions extends Bounds {
  /** Currency of the tenant. */
  currency: string;
  /** Maximum number of faults that an error reports. */
  maxReported?: number | undefined;
  /** Header `If-Match` of the call. If it is undefined, the call may replace any version of the menu. */
  ifMatch?: string | undefined;
}

/** Error for a PUT of a menu document that was made from an outdated version of the menu. */
export const MENU_CHANGED = {
  status: 412,
  code: 'error',
  message:
    'The menu has changed since the version that If-Match names, so nothing was changed. Read the menu again, repeat your changes in it, ' +
    'and send it with its new ETag.',
} as const;

/**
 * Replaces the menu with a document. A dish of the document replaces the stored dish with the same sku. A stored dish that is not in the
 * document becomes inactive. If the stored menu equals the document already, writes no change and no audit entry.
 * @throws ApiError 400 `invalid_request` with at most `maxReported` faults of the document. Also 400 if the menu for partners would have
 *   more than `maxRenderedBytes` bytes. ApiError 412 with the general code `error` if `ifMatch` does not match the stored menu.
 */
export async function replaceMenu(
  db: Database,
  actor: Actor,
  menu: MenuDocument,
  { currency, maxReported = Infinity, ifMatch, ...bounds }: ReplaceOptions,
): Promise<void> {
  refuse(await menuFaults(menu, currency, maxReported + 1), maxReported);
  const { tenantId } = actor;
  const recordAudit = prepareAudit(actor);
  let hasWritten = false;
  await inTransaction(db, async (tx) => {
    const stored = await store.lockMenu(tx, tenantId);
    const isExpected = await isMatching(tx, tenantId, stored.version, ifMatch);
    // If the response to the COMMIT was lost, the transaction runs again. The stored menu is then the one that the first run has written,
    // so it no longer matches `ifMatch`. The second run must not refuse the call for this reason.
    if (!isExpected && !hasWritten) {
      throw menuChanged();
    }
    const wanted = await wantedMenu(tenantId, stored, menu, bounds);
    const changes = await changesTo(stored, wanted);
    if (changes === null) {
      return;
    }
    if (!isExpected) {
      throw menuChanged();
    }
    await write(tx, tenantId, stored, wanted, changes);
    const { added, changed, taken_off } = await compareMenus(stored, wanted);
    const details = { added: added.length, changed: changed.length, taken_off: taken_off.length };
    await recordAudit(tx, { action: 'menu.replaced', subject: String(tenantId), details });
    await announceChange(tx, tenantId, 'menu');
    hasWritten = true;
  });
}

/**
 * Makes all checks of `replaceMenu`, and returns the changes that `replaceMenu` would make. Writes nothing.
 * @throws ApiError as `replaceMenu`
 */
export async function compareMenu(
  db: Database,
  tenantId: number,
  menu: MenuDocument,
  { currency, maxReported = Infinity, ifMatch, ...bounds }: ReplaceOptions,
): Promise<MenuComparison> {
  refuse(await menuFaults(menu, currency, maxReported + 1), maxReported);
  const stored = await store.readMenu(db, tenantId);
  if (!(await isMatching(db, tenantId, stored.version, ifMatch))) {
    throw menuChanged();
  }
  return await compareMenus(stored, await wantedMenu(tenantId, stored, menu, bounds));
}

async function isMatching(db: Db, tenantId: number, version: number, ifMatch: string | undefined): Promise<boolean> {
  return ifMatch === undefined || matchesIfMatch(ifMatch, tagOf(tenantId, version, await store.readEra(db)));
}

function menuChanged(): ApiError {
  return new ApiError(MENU_CHANGED.status, MENU_CHANGED.code, MENU_CHANGED.message);
}

/**
 * Replaces the menu in the transaction of the caller. The caller must have validated the document.
 * @returns the written changes, or null if the stored menu equals the document already
 * @throws ApiError 400 `invalid_request` if partners would get a menu larger than `maxRenderedBytes`
 */
export async function applyMenu(
  tx: Tx,
  tenantId: number,
  document: MenuDocument,
  bounds: Bounds = {},
): Promise<AppliedMenu | null> {
  const stored = await store.lockMenu(tx, tenantId);
  const wanted = await wantedMenu(tenantId, stored, document, bounds);
  const changes = await changesTo(stored, wanted);
  if (changes !== null) {
    await write(tx, tenantId, stored, wanted, changes);
  }
  return changes;
}

async function write(
  tx: Tx,
  tenantId: number,
  { version }: store.StoredMenu,
  { sections }: WantedMenu,
  { dishes }: AppliedMenu,
): Promise<void> {
  await store.upsertDishes(tx, tenantId, rowsToWrite(dishes));
  await store.updateMenu(tx, tenantId, { version: version + 1, sections });
}

/**
 * Changes some fields of one dish, for example to take it off the menu for one evening.
 * @throws ApiError 404 for an unknown sku, 400 if a section of the dish does not exist, 400 if partners would get a menu larger than
 *   `maxRenderedBytes`
 */
export async function changeDish(
  db: Database,
  by: { actor: Actor; currency: string },
  sku: string,
  change: DishChange,
  { maxRenderedBytes = DEFAULT_BOUNDS.renderedMenuBytes }: Bounds = {},
): Promise<StaffDish> {
  const { tenantId } = by.actor;
  refuse(amountFaults(amountsOf(change), by.currency));
  const recordAudit = prepareAudit(by.actor);
  return await inTransaction(db, async (tx) => {
    const { version, sections } = await store.lockSections(tx, tenantId);
    const stored = await store.readLockedDish(tx, tenantId, sku);
    if (stored === undefined) {
      throw notFound('dish');
    }
    const { id, position } = stored;
    const dish = { ...fillDish({ ...documentOf(stored), ...change, sku }), id, position };
    refuse(dishFaults(dish, sections));
    if (!isDeepStrictEqual(dish, stored)) {
      if (await mayGrow(tenantId, sections, stored, dish)) {
        const dishes = await store.readLockedDishes(tx, tenantId);
        const changed = dishes.map((each) => (each.sku === sku ? dish : each));
        await refuseGrowth(tenantId, { sections, dishes }, { sections, dishes: changed }, maxRenderedBytes);
      }
      await store.upsertDishes(tx, tenantId, [dish]);
      await store.updateMenu(tx, tenantId, { version: version + 1, sections });
      const changes = describeListChanges('dish', [{ before: stored, after: dish }], () => sku);
      await recordAudit(tx, { action: 'dish.changed', subject: sku, details: { changes } });
      await announceChange(tx, tenantId, 'menu');
    }
    const dishCounts = await store.countListed(tx, tenantId);
    return createRenderer(tenantId, by.currency, { sections, dishCounts })(dish);
  });
}

/**
 * Returns true if the change of a dish may make the menu for partners longer. Then the caller must compute the size of the whole menu.
 * Returns false in these two cases:
 * - The dish is inactive after the change, so the menu for partners does not contain it.
 * - The dish stays active in the same category, and its own JSON does not become longer. The other dishes keep their length too. Each dish
 *   contains the number of active dishes of its category (`dish_count`), but this number does not change.
 */
async function mayGrow(
  tenantId: number,
  sections: store.StampedSections,
  before: store.StoredDish,
  after: store.StoredDish,
): Promise<boolean> {
  if (!after.is_active) {
    return false;
  }
  const bytesOf = async (dish: store.StoredDish) => await renderedBytes(tenantId, { sections, dishes: [dish] });
  return !before.is_active || before.category !== after.category || (await bytesOf(after)) > (await bytesOf(before));
}

function refuse(faults: string[], maxReported = Infinity): void {
  if (faults.length > 0) {
    throw apiError('invalid_request', joinFaults(faults, 'body', maxReported));
  }
}

function documentOf({ id, position, ...document }: store.StoredDish): FilledDish {
  return document;
}

function unstamped(sections: store.StampedSections): Sections {
  const bare = <T extends object>(list: store.Stamped<T>[]) =>
    list.map(({ created_at, updated_at, ...section }) => section as unknown as T);
  return {
    kitchens: bare(sections.kitchens),
    categories: bare(sections.categories),
    sub_menus: bare(sections.sub_menus),
    menu_sets: bare(sections.menu_sets),
  };
}
