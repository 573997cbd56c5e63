/** Changes a tenant until it matches one JSON file. */
import { type Actor, writeAuditEntries } from '#access/audit/audit.ts';
import { announceChange } from '#platform/changes/changes.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { isUniqueViolation } from '#platform/db/failures.ts';
import { inTransaction, runTransaction } from '#platform/db/transaction.ts';
import { ApiError, OperatorError } from '#platform/errors.ts';
import type { Change } from '#platform/lib/change-list.ts';
import { fieldsOf } from '#platform/lib/unchecked.ts';
import { closed, compileSchema, findFaults } from '#platform/lib/validation.ts';
import { applyMenu, menuChanges } from '#restaurant/menu/menu.ts';
import { applyRatePlans } from '#hotel/rates/rates.ts';
import { applyProperties, type PropertyDocument } from '#hotel/rooms/rooms.ts';
import {
  applyUsers,
  EmailTakenError,
  findTenantBySlug,
  listUsers,
  planUsers,
  type Role,
  saveTenant,
  type UserPlan,
  UsersChangedError,
} from '#access/tenants/tenants.ts';
import { TenantDocument } from './schema.ts';
import { faultsOfValues, isStorable } from './faults.ts';

export interface AppliedTenant {
  tenant_id: number;
  slug: string;
  users: { email: string; role: Role }[];
  properties: {
    id: string;
    name: string;
    room_types: { id: string; name: string; rate_plans: { id: string; name: string }[] }[];
  }[];
  changes: Change[];
}

/** Maximum number of changes that an audit entry lists. The field `count` of the entry counts all changes. */
const MAX_CHANGES_AUDITED = 1_000;

/** Creates the tenant or changes it to match the document, in one transaction, which a dry run rolls back. */
export async function applyTenantDocument(db: Database, value: unknown, isDryRun = false): Promise<AppliedTenant> {
  try {
    return await checkAndApply(db, value, isDryRun);
  } catch (error) {
    // If two calls apply documents at the same time, both may change the same user, and one call gets this error. This call then tries
    // again. It finds the user that the other call has changed, and either updates this user or reports a fault.
    if (isUniqueViolation(error) || error instanceof EmailTakenError || error instanceof UsersChangedError) {
      return await checkAndApply(db, value, isDryRun);
    }
    throw error;
  }
}

const END_OF_DRY_RUN = new Error('A dry run ends with a rollback.');

async function checkAndApply(db: Database, value: unknown, isDryRun: boolean): Promise<AppliedTenant> {
  const { slug } = fieldsOf(value);
  // One snapshot, so that a tenant that another call creates meanwhile is not new with e-mail addresses that are taken.
  const { stored, faults } = await runTransaction(
    db,
    async (tx) => {
      const known = isStorable(slug) ? await findTenantBySlug(tx, slug) : null;
      const users = known === null ? [] : await listUsers(tx, known.id);
      return { stored: users, faults: await faultsOfValues(tx, known, users, value) };
    },
    'snapshot',
  );
  refuse([...findFaults(compileSchema(closed(TenantDocument)), value, 'document'), ...faults]);
  const document = value as TenantDocument;
  const plan = document.users === undefined ? null : await planUsers(stored, document.users);
  let applied: AppliedTenant | undefined;
  await inTransaction(db, async (tx) => {
    applied = await applyParts(tx, document, plan);
    if (isDryRun) {
      throw END_OF_DRY_RUN;
    }
  }).catch((error: unknown) => {
    if (error !== END_OF_DRY_RUN) {
      throw error;
    }
  });
  return applied as unknown as AppliedTenant;
}

async function applyParts(tx: Tx, document: TenantDocument, plan: UserPlan | null): Promise<AppliedTenant> {
  const { slug, name, currency, timezone } = document;
  const features = [...new Set(document.features)].sort();
  const tenant = await saveTenant(tx, { slug, name, currency, timezone, features });
  const actor: Actor = { tenantId: tenant.id, type: 'operator', id: null };
  const ofUsers = plan === null ? [] : await applyUsers(tx, actor, plan);
  const owner = { tenantId: tenant.id, currency };
  const menu = document.menu ? await applyMenu(tx, owner, document.menu).catch(refuseMenu) : null;
  const hotel = await applyHotel(tx, tenant.id, document.properties);
  const ofParts = [...(menu === null ? [] : menuChanges(menu)), ...hotel.changes];
  await auditChanges(tx, actor, [...tenant.changes, ...ofParts]);
  await announceChange(tx, tenant.id);
  const changes = [...tenant.changes, ...ofUsers, ...ofParts];
  return { tenant_id: tenant.id, slug, users: plan?.users ?? [], properties: hotel.properties, changes };
}

/** Writes one audit entry for all changes except those of users, because `applyUsers` has already written the entries of users. */
async function auditChanges(tx: Tx, actor: Actor, changes: Change[]): Promise<void> {
  if (changes.length > 0) {
    const details = { count: changes.length, changes: changes.slice(0, MAX_CHANGES_AUDITED) };
    await writeAuditEntries(tx, actor, [{ action: 'tenant.applied', subject: String(actor.tenantId), details }]);
  }
}

async function applyHotel(
  tx: Tx,
  tenantId: number,
  documents: PropertyDocument[] | undefined,
): Promise<Pick<AppliedTenant, 'properties' | 'changes'>> {
  if (documents === undefined) {
    return { properties: [], changes: [] };
  }
  const { properties, nameOfRoomType, changes } = await applyProperties(tx, tenantId, documents);
  const roomTypesToPlan = properties.flatMap((property) => property.roomTypes);
  const rates = await applyRatePlans(tx, tenantId, roomTypesToPlan, nameOfRoomType);
  const applied = properties.map(({ id, document, roomTypes }) => ({
    id,
    name: document.name,
    room_types: roomTypes.map((roomType) => ({
      id: roomType.id,
      name: roomType.document.name,
      rate_plans: (rates.plans.get(roomType.id) ?? []).map(({ id: planId, name }) => ({ id: planId, name })),
    })),
  }));
  return { properties: applied, changes: [...changes, ...rates.changes] };
}

function refuse(faults: string[]): void {
  if (faults.length > 0) {
    throw new OperatorError(`The tenant document is not valid. Nothing was changed.\n  ${faults.join('\n  ')}`);
  }
}

function refuseMenu(error: unknown): never {
  if (error instanceof ApiError) {
    refuse([`menu.${error.message}`]);
  }
  throw error;
}
