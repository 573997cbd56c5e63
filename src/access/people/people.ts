/** People of a tenant: owners invite, change and disable them. Links for one use let people set a password. */
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { apiError, orNotFound } from '#platform/errors.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import {
  actorOf,
  addUser,
  areasOf,
  changeUser,
  claimEmail,
  differing,
  isActiveOwner,
  isInvited,
  listUsers,
  lockOwnersAndPerson,
  lockUser,
  lockUserByEmail,
  NOT_DOCUMENTED,
  normaliseEmail,
  orderedAreas,
  type Role,
  type Staff,
  unusableHash,
  type UserRow,
} from '../tenants/tenants.ts';
import type { IssuedLink, Links } from './links.ts';
import type { Person, PersonChange, PersonInvite } from './schema.ts';

export { Links, WELCOME_MINUTES } from './links.ts';

export class People {
  readonly #db: Database;
  readonly #links: Links;

  constructor({ db, links }: { db: Database; links: Links }) {
    this.#db = db;
    this.#links = links;
  }

  async list(tenantId: number): Promise<Person[]> {
    return (await listUsers(this.#db, tenantId)).map(personShape).reverse();
  }

  /** If the tenant has invited this e-mail before and that invitation has expired, invites the same person again. */
  async invite(owner: Staff, { email: written, role, ...wanted }: PersonInvite): Promise<IssuedLink> {
    const actor = actorOf(owner);
    const email = normaliseEmail(written);
    const id = newId();
    const areas = role === 'owner' ? [] : orderedAreas(wanted.areas ?? []);
    const profile = { role, name: wanted.name ?? null, areas };
    return await this.#links.issue(owner, async (tx, invitation_expires_at) => {
      const earlier = await lockUserByEmail(tx, actor.tenantId, email);
      if (earlier === undefined) {
        const person = { id, email, ...profile, invitation_expires_at, password_hash: unusableHash() };
        await addUser(tx, actor, { ...person, ...NOT_DOCUMENTED });
        return { kind: 'invite', personId: id };
      }
      await claimEmail(tx, actor, earlier, invitation_expires_at);
      await changeUser(tx, actor, earlier, differing(earlier, { ...profile, is_active: true, invitation_expires_at }));
      return { kind: 'invite', personId: earlier.id };
    });
  }

  /** A change that disables the person also ends the sessions, the tokens and the links of the person. */
  async change(owner: Staff, id: string, wanted: PersonChange): Promise<Person> {
    const actor = actorOf(owner);
    return await inTransaction(this.#db, async (tx) => {
      // The transaction locks all owners. Otherwise two changes at the same time could each disable one of the last two owners.
      const people = isUuid(id) ? await lockOwnersAndPerson(tx, actor.tenantId, id) : [];
      const person = orNotFound(
        people.find((each) => each.id === id.toLowerCase()),
        'person',
      );
      const changes = differing(person, columnsOf(person, wanted));
      const changed = { ...person, ...changes };
      refuseWithoutOwner(people, changed);
      await changeUser(tx, actor, person, changes);
      return personShape(changed);
    });
  }

  /**
   * The old password, earlier links, and all sessions and tokens of the person end immediately. A person who has not accepted the
   * invitation gets a new invitation.
   */
  async reset(owner: Staff, id: string): Promise<IssuedLink> {
    const actor = actorOf(owner);
    const password_hash = unusableHash();
    return await this.#links.issue(owner, async (tx, invitation_expires_at) => {
      const person = orNotFound(isUuid(id) ? await lockUser(tx, actor.tenantId, id) : undefined, 'person');
      if (!person.is_active) {
        throw apiError(
          'invalid_status_transition',
          'The account of this person is disabled. Enable the account first.',
        );
      }
      if (isInvited(person)) {
        await changeUser(tx, actor, person, { invitation_expires_at });
        return { kind: 'invite', personId: person.id };
      }
      await changeUser(tx, actor, person, { password_hash });
      return { kind: 'reset', personId: person.id };
    });
  }
}

/** Other fields of the request are ignored (rule 4). */
function columnsOf(person: UserRow, { name, role = person.role as Role, areas, is_active }: PersonChange) {
  return { name, role, areas: areas && role !== 'owner' ? orderedAreas(areas) : undefined, is_active };
}

/** An invited owner does not count. */
function refuseWithoutOwner(people: UserRow[], changed: UserRow): void {
  const after = people.map((person) => (person.id === changed.id ? changed : person));
  if (people.some(isActiveOwner) && !after.some(isActiveOwner)) {
    throw apiError(
      'invalid_status_transition',
      'This person is the last active owner. First give the role "owner" to another person who has accepted the invitation.',
    );
  }
}

export function personShape(row: UserRow): Person {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role as Role,
    areas: areasOf(row),
    is_active: row.is_active,
    is_invited: isInvited(row),
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at?.toISOString() ?? null,
  };
}
