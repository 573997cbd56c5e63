import type { Database } from '#platform/db/database.ts';
import { fieldsOf } from '#platform/lib/unchecked.ts';
import { emailsOfOthers, listUsers, normaliseEmail, ownersLost } from '#access/tenants/tenants.ts';
import { isStorable } from './text-faults.ts';

type StoredUsers = Awaited<ReturnType<typeof listUsers>>;

/** Faults of the `users` part that a schema cannot see, each as `path: text`. What the schema refuses is passed over. */
export async function userFaults(db: Database, tenantId: number | null, users: unknown[]): Promise<string[]> {
  const named = users.map((user) => {
    const { email, password, role } = fieldsOf(user);
    return isStorable(email) ? { email: normaliseEmail(email), password, role } : null;
  });
  const given = named.filter((user) => user !== null);
  const others = await emailsOfOthers(
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
      ...(others.has(email) ? [`users.${index}.email: belongs to a user of another tenant`] : []),
      ...(password === undefined && !known.has(email)
        ? [`users.${index}.password: is required, for this user is new. Give one of at least 12 characters`]
        : []),
    ];
  });
  return [...faults, ...ownerFaults(stored, given)];
}

/** A document takes no tenant its last active owner. */
export function ownerFaults(stored: StoredUsers, users: { email: string; role: unknown }[]): string[] {
  const lost = ownersLost(stored, users);
  return lost.length === 0
    ? []
    : [
        `users: would leave the tenant without an active owner (now: ${lost.join(', ')}). Name one of them, or a new user, ` +
          'with the role "owner"; or leave "users" out, and all users stay as they are',
      ];
}
