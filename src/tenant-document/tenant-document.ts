import type { Database } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { OperatorError } from '../errors.ts';
import { compileSchema, findFaults } from '../lib/validation.ts';
import { applyMenu, findMenuFaults } from '../menu/menu.ts';
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
  properties: unknown[];
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
  const tenantId = await inTransaction(db, async (tx) => {
    const id = await saveTenant(tx, { slug, name, currency, timezone, features });
    if (userPlan) {
      await applyUserPlan(tx, id, userPlan);
    }
    if (document.menu) {
      await applyMenu(tx, id, document.menu);
    }
    return id;
  });
  const users = (document.users ?? []).map(({ email, role }) => ({ email: normaliseEmail(email), role: role }));
  return { tenant_id: tenantId, slug, users, properties: [] };
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
  ];
  if (faults.length > 0) {
    throw badDocument(faults);
  }
}

function badDocument(faults: string[]): OperatorError {
  return new OperatorError(`The tenant document is not valid; nothing was changed.\n  ${faults.join('\n  ')}`);
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
