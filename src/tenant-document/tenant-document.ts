import type { Database, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { OperatorError } from '../errors.ts';
import { isTimeZone } from '../lib/dates.ts';
import { compileSchema, findFaults } from '../lib/validation.ts';
import { applyMenu, findMenuFaults } from '../menu/menu.ts';
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

/**
 * Creates the tenant or brings it to what the document says, in one transaction; a part that is absent stays as it is.
 * @throws OperatorError that lists every fault of the document with its path; nothing is changed then
 */
export async function applyTenantDocument(db: Database, value: unknown): Promise<AppliedTenant> {
  const faults = findFaults(validate, value, 'document');
  if (faults.length > 0) {
    throw badDocument(faults);
  }
  const document = value as TenantDocument;
  const known = await findTenantBySlug(db, document.slug);
  await refuseFaults(db, known?.id ?? null, document);

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
    return { id, properties: document.properties ? await applyHotel(tx, id, document.properties) : [] };
  });
  const users = (document.users ?? []).map(({ email, role }) => ({ email: normaliseEmail(email), role: role }));
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

/** Faults that the schema cannot see. */
async function refuseFaults(db: Database, tenantId: number | null, document: TenantDocument): Promise<void> {
  const emails = (document.users ?? []).map((user) => normaliseEmail(user.email));
  const others = await emailsOfOthers(db, tenantId, emails);
  const faults = [
    ...(isTimeZone(document.timezone) ? [] : ['timezone: must be the name of a time zone such as "Europe/Lisbon"']),
    ...emails.flatMap((email, index) => [
      ...(emails.indexOf(email) < index ? [`users.${index}.email: is given twice`] : []),
      ...(others.has(email) ? [`users.${index}.email: belongs to a user of another tenant`] : []),
    ]),
    ...(document.menu ? findMenuFaults(document.menu).map((fault) => `menu.${fault}`) : []),
    ...propertyFaults(document.properties),
  ];
  if (faults.length > 0) {
    throw badDocument(faults);
  }
}

function badDocument(faults: string[]): OperatorError {
  return new OperatorError(`The tenant document is not valid; nothing was changed.\n  ${faults.join('\n  ')}`);
}
