import { announceChange } from '../changes/changes.ts';
import type { Database, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { OperatorError } from '../errors.ts';
import { findTextFault } from '../http/decode/text.ts';
import { isTimeZone } from '../lib/dates.ts';
import { fieldsOf } from '../lib/unchecked.ts';
import { compileSchema, findFaults } from '../lib/validation.ts';
import { applyMenu, menuFaults } from '../menu/menu.ts';
import { applyRatePlans } from '../rates/rates.ts';
import { applyProperties, type PropertyDocument, propertyFaults } from '../rooms/rooms.ts';
import {
  applyUserPlan,
  emailsOfOthers,
  findTenantBySlug,
  normaliseEmail,
  planUsers,
  type Role,
  saveTenant,
  type Tenant,
} from '../tenants/tenants.ts';
import { TenantDocument } from './schema.ts';

export interface AppliedTenant {
  tenant_id: number;
  slug: string;
  users: { email: string; role: Role }[];
  properties: {
    id: string;
    name: string;
    room_types: { id: string; name: string; rate_plans: { id: string; name: string }[] }[];
  }[];
}

const validate = compileSchema(TenantDocument);
const UNIQUE_VIOLATION = '23505';

/**
 * Creates the tenant or brings it to what the document says, in one transaction; a part that is absent stays as it is.
 * @throws OperatorError that lists every fault of the document with its path; nothing is changed then
 */
export async function applyTenantDocument(db: Database, value: unknown): Promise<AppliedTenant> {
  try {
    return await checkAndApply(db, value);
  } catch (error) {
    // Another document made the same user meanwhile. Now that it is there, it is known or a fault.
    if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) {
      return await checkAndApply(db, value);
    }
    throw error;
  }
}

async function checkAndApply(db: Database, value: unknown): Promise<AppliedTenant> {
  const known = await findKnownTenant(db, value);
  const faults = [
    ...findFaults(validate, value, 'document'),
    ...textFaults(value, []),
    ...(await faultsOfValues(db, known?.id ?? null, value)),
  ];
  if (faults.length > 0) {
    throw badDocument(faults);
  }
  const document = value as TenantDocument;
  const userPlan = document.users && (await planUsers(db, known?.id ?? null, document.users));
  const { slug, name, currency, timezone } = document;
  const features = [...new Set(document.features)].sort();
  const applied = await inTransaction(db, async (tx) => {
    const id = await saveTenant(tx, { slug, name, currency, timezone, features });
    if (userPlan) {
      await applyUserPlan(tx, id, userPlan);
    }
    if (document.menu) {
      await applyMenu(tx, id, document.menu);
    }
    const properties = document.properties ? await applyHotel(tx, id, document.properties) : [];
    await announceChange(tx, id);
    return { id, properties };
  });
  const users = (document.users ?? []).map(({ email, role }) => ({ email: normaliseEmail(email), role }));
  return { tenant_id: applied.id, slug, users, properties: applied.properties };
}

async function applyHotel(
  tx: Tx,
  tenantId: number,
  documents: PropertyDocument[],
): Promise<AppliedTenant['properties']> {
  const properties = await applyProperties(tx, tenantId, documents);
  const plans = await applyRatePlans(
    tx,
    tenantId,
    properties.flatMap((property) => property.roomTypes),
  );
  return properties.map(({ id, document, roomTypes }) => ({
    id,
    name: document.name,
    room_types: roomTypes.map((roomType) => ({
      id: roomType.id,
      name: roomType.document.name,
      rate_plans: (plans.get(roomType.id) ?? []).map(({ id: planId, name }) => ({ id: planId, name })),
    })),
  }));
}

async function findKnownTenant(db: Database, value: unknown): Promise<Tenant | null> {
  const { slug } = fieldsOf(value);
  return isStorable(slug) ? await findTenantBySlug(db, slug) : null;
}

/** Faults that the schema cannot see. What the schema refuses is passed over, so that one look tells all faults. */
async function faultsOfValues(db: Database, tenantId: number | null, value: unknown): Promise<string[]> {
  const { timezone, users, menu, properties } = fieldsOf(value);
  return [
    ...(typeof timezone !== 'string' || isTimeZone(timezone)
      ? []
      : ['timezone: must be the name of a time zone such as "Europe/Lisbon"']),
    ...(Array.isArray(users) ? await faultsOfUsers(db, tenantId, users) : []),
    ...menuFaults(menu).map((fault) => `menu.${fault}`),
    ...propertyFaults(properties),
  ];
}

async function faultsOfUsers(db: Database, tenantId: number | null, users: unknown[]): Promise<string[]> {
  const emails = users.map((user) => {
    const { email } = fieldsOf(user);
    return isStorable(email) ? normaliseEmail(email) : null;
  });
  const others = await emailsOfOthers(
    db,
    tenantId,
    emails.filter((email) => email !== null),
  );
  const seen = new Set<string>();
  return emails.flatMap((email, index) => {
    if (email === null) {
      return [];
    }
    const isRepeated = seen.has(email);
    seen.add(email);
    return [
      ...(isRepeated ? [`users.${index}.email: is given twice`] : []),
      ...(others.has(email) ? [`users.${index}.email: belongs to a user of another tenant`] : []),
    ];
  });
}

/** Texts that the database could not store, anywhere in the document. */
function textFaults(value: unknown, path: string[]): string[] {
  if (typeof value === 'string') {
    const fault = findTextFault(value);
    return fault === undefined ? [] : [`${path.join('.') || 'document'}: holds ${fault}`];
  }
  return Object.entries(fieldsOf(value)).flatMap(([key, entry]) => textFaults(entry, [...path, key]));
}

function isStorable(value: unknown): value is string {
  return typeof value === 'string' && findTextFault(value) === undefined;
}

function badDocument(faults: string[]): OperatorError {
  return new OperatorError(`The tenant document is not valid; nothing was changed.\n  ${faults.join('\n  ')}`);
}
