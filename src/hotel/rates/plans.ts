import { type Actor, prepareAudit } from '#access/audit/audit.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { notFound } from '#platform/errors.ts';
import { isUuid } from '#platform/lib/ids.ts';
import { formatMoney } from '#platform/lib/money.ts';
import type { ChangedRatePlan, RatePlanChange } from './staff-schema.ts';
import * as store from './store.ts';

/** @throws ApiError 404 (code `error`) if a plan is unknown or belongs to another tenant */
export async function lockPlans(
  tx: Tx,
  tenantId: number,
  entries: { rate_plan_id: string }[],
): Promise<store.RatePlanRow[]> {
  const ids = [...new Set(entries.map((entry) => entry.rate_plan_id.toLowerCase()))];
  const plans = ids.every(isUuid) ? await store.lockPlans(tx, tenantId, ids) : [];
  if (plans.length < ids.length) {
    throw notFound('rate plan');
  }
  return plans;
}

/** @throws ApiError 404 (code `error`) if the plan is unknown or belongs to another tenant */
export async function changeRatePlan(
  db: Database,
  actor: Actor,
  id: string,
  change: RatePlanChange,
): Promise<ChangedRatePlan> {
  const recordAudit = prepareAudit(actor);
  return await inTransaction(db, async (tx) => {
    const [plan] = await lockPlans(tx, actor.tenantId, [{ rate_plan_id: id }]);
    if (plan === undefined) {
      throw notFound('rate plan');
    }
    const before = { base_price: plan.base_price, min_nights: plan.min_nights };
    const after = {
      base_price: change.base_price === undefined ? before.base_price : formatMoney(change.base_price),
      min_nights: change.min_nights ?? before.min_nights,
    };
    if (after.base_price !== before.base_price || after.min_nights !== before.min_nights) {
      await store.updatePlan(tx, actor.tenantId, plan.id, after);
      await recordAudit(tx, { action: 'rate_plan.changed', subject: plan.id, details: { before, after } });
    }
    return { id: plan.id, name: plan.name, ...after, is_active: plan.is_active };
  });
}
