import { type Actor, type NewAuditEntry, prepareAudit, writeAuditEntries } from '#access/audit/audit.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { apiError, invalidField, orNotFound, notFound } from '#platform/errors.ts';
import { isUuid } from '#platform/lib/ids.ts';
import { formatMoney } from '#platform/lib/money.ts';
import type {
  ChangedNight,
  ChangedRatePlan,
  NightChange,
  NightState,
  RateChanges,
  RatePlanChange,
  RatesChanged,
} from './staff-schema.ts';
import * as store from './store.ts';

const NAMED_NIGHTS = 5;

/**
 * Changes nights of rate plans in one transaction, all or none. Each writer locks the plans first.
 * @returns the nights whose values the call changes, in the order of the call
 * @throws ApiError 400 `invalid_request` if a night is named twice, 404 (code `error`) if a plan is unknown or belongs to another tenant,
 * 409 `invalid_status_transition` if a night does not have its `expected` values
 */
export async function changeRates(db: Database, actor: Actor, input: RateChanges): Promise<RatesChanged> {
  const changes = input.changes.map((change) => ({ ...change, rate_plan_id: change.rate_plan_id.toLowerCase() }));
  refuseRepeatedNights(changes);
  let written: ChangedNight[] = [];
  return await inTransaction(db, async (tx) => {
    await lockPlans(tx, actor.tenantId, new Set(changes.map((change) => change.rate_plan_id)));
    const stateOf = await readStates(tx, actor.tenantId, changes);
    // If the response to the COMMIT was lost, the transaction runs again. The second run then finds the values that the first run has
    // written, and must not compare them with the expected values.
    if (written.length > 0 && written.every((night) => isEqual(stateOf(night), night.after))) {
      return { changed: written };
    }
    refuseUnexpected(changes, stateOf);
    const changed = differencesOf(changes, stateOf);
    if (input.dry_run !== true && changed.length > 0) {
      await write(tx, actor, changed);
      written = changed;
    }
    return { changed };
  });
}

function refuseRepeatedNights(changes: NightChange[]): void {
  const seen = new Set<string>();
  for (const [index, change] of changes.entries()) {
    if (seen.has(keyOf(change))) {
      throw invalidField(`changes.${index}`, `names the night ${change.date} of this rate plan a second time`);
    }
    seen.add(keyOf(change));
  }
}

type Night = Pick<NightChange, 'rate_plan_id' | 'date'>;

function keyOf({ rate_plan_id, date }: Night): string {
  return `${rate_plan_id} ${date}`;
}

async function readStates(tx: Tx, tenantId: number, nights: Night[]): Promise<(night: Night) => NightState> {
  const rows = await store.readNights(tx, tenantId, nights);
  const states = new Map(rows.map(({ price, is_sold_out, ...night }) => [keyOf(night), { price, is_sold_out }]));
  return (night) => states.get(keyOf(night)) ?? { price: null, is_sold_out: false };
}

function isEqual(a: NightState, b: NightState): boolean {
  return a.price === b.price && a.is_sold_out === b.is_sold_out;
}

function refuseUnexpected(changes: NightChange[], stateOf: (night: Night) => NightState): void {
  const unexpected = changes.filter(
    (change) => change.expected !== undefined && !isEqual(stateOf(change), stateFrom(change.expected)),
  );
  if (unexpected.length > 0) {
    const named = unexpected.slice(0, NAMED_NIGHTS).map((change) => describe(change, stateOf(change)));
    const more = unexpected.length > named.length ? [`and ${unexpected.length - named.length} more`] : [];
    throw apiError(
      'invalid_status_transition',
      `Some nights no longer have the expected values: ${[...named, ...more].join('; ')}. Nothing was changed. Read the nights ` +
        'again, and send the changes with their present values.',
    );
  }
}

function describe({ rate_plan_id, date }: Night, { price, is_sold_out }: NightState): string {
  const cost = price === null ? "the plan's price" : `the price ${price}`;
  return `${date} of rate plan ${rate_plan_id} has ${cost} and is ${is_sold_out ? 'sold out' : 'open'}`;
}

function stateFrom({ price, is_sold_out }: NightState): NightState {
  return { price: price === null ? null : formatMoney(price), is_sold_out };
}

/** A value that a change leaves out stays as it is. */
function differencesOf(changes: NightChange[], stateOf: (night: Night) => NightState): ChangedNight[] {
  return changes.flatMap((change) => {
    const before = stateOf(change);
    const { price = before.price, is_sold_out = before.is_sold_out } = change;
    const after = stateFrom({ price, is_sold_out });
    return isEqual(before, after) ? [] : [{ rate_plan_id: change.rate_plan_id, date: change.date, before, after }];
  });
}

async function write(tx: Tx, actor: Actor, changed: ChangedNight[]): Promise<void> {
  const nights = changed.map(({ rate_plan_id, date, after }) => ({ rate_plan_id, date, ...after }));
  await store.storeNights(tx, { tenantId: actor.tenantId, nights, price: 'replace' });
  await writeAuditEntries(tx, actor, auditEntriesOf(changed));
}

function auditEntriesOf(changed: ChangedNight[]): NewAuditEntry[] {
  return [...Map.groupBy(changed, (night) => night.rate_plan_id)].map(([subject, nights]) => ({
    action: 'rates.changed',
    subject,
    details: { entries: nights.map(({ rate_plan_id, ...entry }) => entry) },
  }));
}

/** @throws ApiError 404 (code `error`) if a plan is unknown or belongs to another tenant */
export async function lockPlans(tx: Tx, tenantId: number, ids: Iterable<string>): Promise<store.RatePlanRow[]> {
  const wanted = [...ids];
  const plans = wanted.every(isUuid) ? await store.lockPlans(tx, tenantId, wanted) : [];
  if (plans.length < wanted.length) {
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
    const plan = orNotFound((await lockPlans(tx, actor.tenantId, [id]))[0], 'rate plan');
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
