import { type Actor, prepareAudit } from '#access/audit/audit.ts';
import { announceChange } from '#platform/changes/changes.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { ApiError } from '#platform/errors.ts';
import { fitsPartners } from './large-menu.ts';
import { menuTooLarge } from './menu-plan.ts';
import type { AvailabilityChange, DishAvailability } from './staff-schema.ts';
import * as store from './store.ts';
import type { MenuOwner } from './stored-menu.ts';

/**
 * Puts dishes on the menu or takes them off. If one dish is refused, no dish changes. A sku that is named several times counts once.
 * @returns the named dishes in the order of the call
 * @throws ApiError with status 404 and the general code `error` if at least one sku belongs to no dish of the tenant. ApiError with status
 * 400 and the code `invalid_request` if partners would get a menu that is too large.
 */
export async function setAvailability(
  db: Database,
  { actor, currency }: { actor: Actor; currency: string },
  { skus, is_active }: AvailabilityChange,
): Promise<DishAvailability[]> {
  const { tenantId } = actor;
  const named = [...new Set(skus)];
  const recordAudit = prepareAudit(actor);
  await inTransaction(db, async (tx) => {
    const menu = await store.lockMenu(tx, tenantId);
    const stored = await store.readActivity(tx, tenantId, named);
    refuseUnknown(named, stored);
    const changed = named.filter((sku) => stored.get(sku) !== is_active);
    if (changed.length === 0) {
      return;
    }
    await store.setActive(tx, tenantId, changed, is_active);
    if (is_active) {
      await refuseTooLarge(tx, { tenantId, currency });
    }
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

/**
 * Refuses the changes of a transaction if partners would get a menu that is too large.
 * @throws ApiError 400 `invalid_request`, which rolls the changes back
 */
export async function refuseTooLarge(tx: Tx, owner: MenuOwner): Promise<void> {
  if (!(await fitsPartners(owner, await store.readMenu(tx, owner.tenantId, 'listed')))) {
    throw menuTooLarge();
  }
}
