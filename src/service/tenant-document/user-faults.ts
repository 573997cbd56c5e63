import type { Database } from '#platform/db/database.ts';
import { fieldsOf } from '#platform/lib/unchecked.ts';
import { findTakenEmails, listUsers, normaliseEmail, activeOwnersLost } from '#access/tenants/tenants.ts';
import { isStorable } from './text-faults.ts';

type StoredUsers = Awaited<ReturnType<typeof listUsers>>;

/** Returns the faults of the document's `users` that the schema cannot find, for example `users.0.email: is given twice`. */
export async function userFaults(db: Database, tenantId: number | null, users: unknown[]): Promise<string[]> {
  const named = users.map((user) => {
    const { email, password, role } = fieldsOf(user);
    return isStorable(email) ? { email: normaliseEmail(email), password, role } : null;
  });
  const given = named.filter((user) => user !== null);
  const takenEmails = await findTakenEmails(
    db,
    tenantId,
    given.map(({ email }) => email),
  );
  const stored = tenantId === null ? [] : await listUsers(db, tenantId);
  const known = new Set(stored.map(({ email }) => email));
  const seen = new Set<string>();
  const faults = named.flatMap((user, index) => {
    if (user === null) {
      return [];
    }
    const { email, password } = user;
    const isRepeated = seen.has(email);
    seen.add(email);
    return [
      ...(isRepeated ? [`users.${index}.email: is given twice`] : []),
      ...(takenEmails.has(email) ? [`users.${index}.email: belongs to a user of another tenant`] : []),
      ...(password === undefined && !known.has(email)
        ? [`users.${index}.password: is required, because this user is new. Give a password of at least 12 characters`]
        : []),
    ];
  });
  return [...faults, ...ownerFaults(stored, given)];
}

/** Returns a fault if the tenant has an active owner now, but would have no active owner after the document is applied. */
export function ownerFaults(
  stored: StoredUsers,
  users: { email: string; role: unknown; password?: unknown }[],
): string[] {
  const lost = activeOwnersLost(stored, users);
  return lost.length === 0
    ? []
    : [
        `users: would leave the tenant without an active owner (active owners now: ${lost.join(', ')}). Name one of them, ` +
          'or a new user, with the role "owner". Or leave "users" out, so that all users stay as they are',
      ];
}
