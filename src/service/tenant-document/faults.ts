import {
  activeOwnersLost,
  findTakenEmails,
  normaliseEmail,
  type Tenant,
  type UserRow,
} from '#access/tenants/tenants.ts';
import { propertyFaults } from '#hotel/rooms/rooms.ts';
import type { Db } from '#platform/db/database.ts';
import { findTextFault } from '#platform/http/decode/text.ts';
import { isTimeZone } from '#platform/lib/dates.ts';
import { currencyFault, unitOf } from '#platform/lib/money.ts';
import { fieldsOf } from '#platform/lib/unchecked.ts';
import { menuFaults } from '#restaurant/menu/menu.ts';

/**
 * Returns the faults of a tenant document that its schema cannot find, as `path: text`. Skips values that the schema refuses, because the
 * schema check reports them.
 * @param known the stored tenant, or null if the document describes a new tenant
 */
export async function faultsOfValues(
  db: Db,
  known: Tenant | null,
  stored: UserRow[],
  value: unknown,
): Promise<string[]> {
  const { timezone, users, menu, properties, currency } = fieldsOf(value);
  return [
    ...textFaults(value),
    ...currencyFaults(value, known),
    ...(typeof timezone !== 'string' || isTimeZone(timezone)
      ? []
      : ['timezone: must be the name of a time zone such as "Europe/Lisbon"']),
    ...(Array.isArray(users) ? await userFaults(db, known?.id ?? null, stored, users) : []),
    ...menuFaults(menu, String(currency)).map((fault) => `menu.${fault}`),
    ...propertyFaults(properties, String(currency)),
  ];
}

function textFaults(value: unknown, path: string[] = []): string[] {
  if (typeof value === 'string') {
    const fault = findTextFault(value);
    return fault === undefined ? [] : [`${path.join('.') || 'document'}: contains ${fault}`];
  }
  return Object.entries(fieldsOf(value)).flatMap(([key, entry]) => textFaults(entry, [...path, key]));
}

export function isStorable(value: unknown): value is string {
  return typeof value === 'string' && findTextFault(value) === undefined;
}

function currencyFaults(document: unknown, known: Tenant | null): string[] {
  const { currency } = fieldsOf(document);
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    return [];
  }
  const fault = currencyFault(currency) ?? (known === null ? null : changeFault(document, currency, known));
  return fault === null ? [] : [`currency: ${fault}`];
}

/** Refuses a currency that cannot have the stored prices, unless the document replaces these prices. */
function changeFault(document: unknown, currency: string, known: Tenant): string | null {
  const { menu, properties } = fieldsOf(document);
  const missing = [
    ...(menu === undefined && known.features.includes('restaurant') ? ['"menu"'] : []),
    ...(properties === undefined && known.features.includes('hotel') ? ['"properties"'] : []),
  ];
  return unitOf(currency) <= unitOf(known.currency) || missing.length === 0
    ? null
    : `has no decimals, but the stored prices in ${known.currency} may have some. Give ${missing.join(' and ')} with prices in ${currency}`;
}

async function userFaults(db: Db, tenantId: number | null, stored: UserRow[], users: unknown[]): Promise<string[]> {
  const given = users.flatMap((user, index) => {
    const { email, password, role } = fieldsOf(user);
    return isStorable(email) ? [{ path: `users.${index}`, email: normaliseEmail(email), password, role }] : [];
  });
  const emails = given.map(({ email }) => email);
  const takenEmails = await findTakenEmails(db, tenantId, emails);
  const known = new Set(stored.map(({ email }) => email));
  const faults = given.flatMap(({ path, email, password }, index) => [
    ...(emails.indexOf(email) < index ? [`${path}.email: is given twice`] : []),
    ...(takenEmails.has(email) ? [`${path}.email: belongs to a user of another tenant`] : []),
    ...(password === undefined && !known.has(email)
      ? [`${path}.password: is required, because this user is new. Give a password of at least 12 characters`]
      : []),
  ]);
  const lost = activeOwnersLost(stored, given);
  if (lost.length > 0) {
    faults.push(
      `users: would leave the tenant without an active owner (active owners now: ${lost.join(', ')}). Name one of them, ` +
        'or a new user, with the role "owner". Or leave "users" out, so that all users stay as they are',
    );
  }
  return faults;
}
