import { type Actor, prepareAudit } from '#access/audit/audit.ts';
import { announceChange } from '#platform/changes/changes.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { ApiError } from '#platform/errors.ts';
import { DEFAULT_BOUNDS } from '#platform/lib/bounds.ts';
import { refuseGrowth } from './rendered-size.ts';
import type { AvailabilityChange, DishAvailability } from './staff-schema.ts';
import * as store from './store.ts';

/**
 * Puts dishes on the menu or takes them off. If one dish is refused, no dish changes. A sku that is named several times counts once.
 * @returns the named dishes in the order of the call
 * @throws ApiError with status 404 and the general code `error` if at least one sku belongs to no dish of the tenant. ApiError with status
 * 400 and the code `invalid_request` if partners would get a menu larger than `maxRenderedBytes`.
 */
export async function setAvailability(
  db: Database,
  actor: Actor,
  { skus, is_active }: AvailabilityChange,
  { maxRenderedBytes = DEFAULT_BOUNDS.renderedMenuBytes }: { maxRenderedBytes?: number } = {},
): Promise<DishAvailability[]> {
  const { tenantId } = actor;
  const named = [...new Set(skus)];
  const recordAudit = prepareAudit(actor);
  await inTransaction(db, async (tx) => {
    const menu = await store.lockSections(tx, tenantId);
    const stored = await store.readActivity(tx, tenantId, named);
    refuseUnknown(named, stored);
    const changed = named.filter((sku) => stored.get(sku) !== is_active);
    if (changed.length === 0) {
      return;
    }
    if (is_active) {
      await refuseLargerMenu(tx, tenantId, menu.sections, new Set(changed), maxRenderedBytes);
    }
    await store.setActive(tx, tenantId, changed, is_active);
    await store.setVersion(tx, tenantId, menu.version + 1);
    const details = { is_active, skus: changed };
    await recordAudit(tx, { action: 'dishes.availability_changed', subject: String(tenantId), details });
    await announceChange(tx, tenantId, 'menu');
  });
  return named.map((sku) => ({ sku, is_active }));
}

function refuseUnknown(skus: string[], stored: ReadonlyMap<string, boolean>): void {
  const unknown = skus.find((sku) => !stored.has(sku));
  if (unknown !== undefined) {
    throw new ApiError(404, 'error', `No such dish: ${JSON.stringify(unknown)}. No dish was changed.`);
  }
}

/** Refuses to add dishes to the menu if partners would then get a menu larger than `maxBytes`. `listed` has the skus of these dishes. */
async function refuseLargerMenu(
  tx: Tx,
  tenantId: number,
  sections: store.StampedSections,
  listed: ReadonlySet<string>,
  maxBytes: number,
): Promise<void> {
  const dishes = await store.readLockedDishes(tx, tenantId);
  const after = dishes.map((dish) => (listed.has(dish.sku) ? { ...dish, is_active: true } : dish));
  await refuseGrowth(tenantId, { sections, dishes }, { sections, dishes: after }, maxBytes);
}
