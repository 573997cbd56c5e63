import { isDeepStrictEqual } from 'node:util';
import { type Actor, prepareAudit } from '#access/audit/audit.ts';
import { announceChange } from '#platform/changes/changes.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { ApiError, apiError, orNotFound } from '#platform/errors.ts';
import { describeListChanges } from '#platform/lib/change-list.ts';
import { joinFaults } from '#platform/lib/fault-texts.ts';
import { amountFaults } from '#platform/lib/money.ts';
import { amountsOf, dishFaults, fillDish } from './menu-document.ts';
import { menuTooLarge } from './menu-plan.ts';
import { fitsPartners } from './menu-thread.ts';
import { createRenderer } from './rendering.ts';
import type { DishChange, StaffDish } from './schema.ts';
import type { AvailabilityChange, DishAvailability } from './staff-schema.ts';
import * as store from './store.ts';
import { dishDocument, type MenuOwner, type StampedSections } from './stored-menu.ts';

/**
 * Puts dishes on the menu or takes them off, all or none.
 * @throws ApiError 404 (code `error`) for an unknown sku, 400 `invalid_request` if partners would get a menu that is too large
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
    const unknown = named.find((sku) => !stored.has(sku));
    if (unknown !== undefined) {
      throw new ApiError(404, 'error', `No such dish: ${JSON.stringify(unknown)}. No dish was changed.`);
    }
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
    await announceChange(tx, tenantId);
  });
  return named.map((sku) => ({ sku, is_active }));
}

/** @throws ApiError 404 for an unknown sku, 400 if a section of the dish does not exist or the menu would be too large for partners */
export async function changeDish(
  db: Database,
  { actor, currency }: { actor: Actor; currency: string },
  sku: string,
  change: DishChange,
): Promise<StaffDish> {
  const { tenantId } = actor;
  refuse(amountFaults(amountsOf(change), currency));
  const recordAudit = prepareAudit(actor);
  return await inTransaction(db, async (tx) => {
    const menu = await store.lockMenu(tx, tenantId);
    const sections: StampedSections = JSON.parse(menu.sections);
    const stored = orNotFound(await store.readLockedDish(tx, tenantId, sku), 'dish');
    const { id, position } = stored;
    const dish = { ...fillDish({ ...dishDocument(stored), ...change, sku }), id, position };
    refuse(dishFaults(dish, sections));
    if (!isDeepStrictEqual(dish, stored)) {
      await store.upsertDishes(tx, tenantId, JSON.stringify([dish]));
      if (dish.is_active) {
        await refuseTooLarge(tx, { tenantId, currency });
      }
      await store.setVersion(tx, tenantId, menu.version + 1);
      const changes = describeListChanges('dish', [{ before: stored, after: dish }], () => sku);
      await recordAudit(tx, { action: 'dish.changed', subject: sku, details: { changes } });
      await announceChange(tx, tenantId);
    }
    const dishCounts = await store.countListed(tx, tenantId);
    return createRenderer({ tenantId, currency }, sections, dishCounts)(dish);
  });
}

function refuse(faults: string[]): void {
  if (faults.length > 0) {
    throw apiError('invalid_request', joinFaults(faults, 'body'));
  }
}

async function refuseTooLarge(tx: Tx, owner: MenuOwner): Promise<void> {
  if (!(await fitsPartners(owner, await store.readMenu(tx, owner.tenantId, 'listed')))) {
    throw menuTooLarge();
  }
}
