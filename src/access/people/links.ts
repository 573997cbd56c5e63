import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import { createTenantTokens, type ReadToken, type TenantTokens } from '#platform/lib/tenant-token.ts';
import type { Mailer } from '#platform/mail/mail.ts';
import { type Actor, writeAuditEntries } from '../audit/audit.ts';
import {
  actorOf,
  changeUser,
  hashPassword,
  isInvited,
  lockUser,
  readLinkEnd,
  type Staff,
  type Tenant,
  notSignedIn,
  type UserRow,
} from '../tenants/tenants.ts';
import * as store from './store.ts';

interface Dependencies {
  db: Database;
  pepper: Buffer;
  mailer: Pick<Mailer, 'send'> | null;
  /** Returns the URL with which links begin, without a trailing slash. */
  baseUrl: () => string;
}

/** If the transaction that makes the link also replaces the password, `generation` is the number after this change. */
type LinkCause = Pick<store.NewLink, 'kind' | 'personId' | 'generation'>;

export interface IssuedLink {
  person: UserRow;
  url: string;
  expiresAt: Date;
}

/** Minutes for which the link that signs in the demo's owner works. */
export const WELCOME_MINUTES = 15;

/** Person whom a link signs in. The field `generation` is the present number of the person's password. */
export interface LinkHolder {
  tenantId: number;
  personId: string;
  generation: number;
}

/**
 * The token of a link is after the `#` of its URL, so the browser does not send the token when it loads the page. The database has only a
 * keyed hash of the token.
 */
export class Links {
  readonly #dependencies: Dependencies;
  readonly #tokens: TenantTokens;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#tokens = createTenantTokens(dependencies.pepper, 'one-time-link');
  }

  async issue(owner: Staff, cause: (tx: Tx, expiresAt: Date) => Promise<LinkCause>): Promise<IssuedLink> {
    const { tenant } = owner;
    const id = newId();
    const { token, hash } = this.#tokens.create(tenant.id);
    const { link, person } = await inTransaction(this.#dependencies.db, async (tx) => {
      // If the link exists, an earlier attempt of this transaction was committed, but the response to its COMMIT was lost. Then the changes
      // must not be made again.
      const earlier = await store.findLink(tx, tenant.id, hash);
      const made = earlier ?? (await insertLink(tx, actorOf(owner), { id, hash, cause }));
      return { link: made, person: (await lockUser(tx, tenant.id, made.person_id)) as UserRow };
    });
    const url = `${this.#dependencies.baseUrl()}/console/#${link.kind}=${token}`;
    this.#dependencies.mailer?.send({
      tenantId: tenant.id,
      to: person.email,
      ...linkMail(tenant, { kind: link.kind, url, expiresAt: link.expires_at }),
      logged: { tenant_id: tenant.id, user_id: person.id, mail: link.kind },
    });
    return { person, url, expiresAt: link.expires_at };
  }

  /**
   * Makes a link that signs the person in once within 15 minutes, without a password, and ends all earlier links of the person. Only the
   * operator's terminal may show the link.
   */
  async issueWelcome(tenantId: number, personId: string): Promise<string> {
    const id = newId();
    const { token, hash } = this.#tokens.create(tenantId);
    const operator: Actor = { tenantId, type: 'operator', id: null };
    const cause = async (tx: Tx): Promise<LinkCause> => {
      const { generation } = (await lockUser(tx, tenantId, personId)) as UserRow;
      return { kind: 'welcome', personId, generation };
    };
    await inTransaction(this.#dependencies.db, async (tx) => {
      if ((await store.findLink(tx, tenantId, hash)) === undefined) {
        await insertLink(tx, operator, { id, hash, cause, minutes: WELCOME_MINUTES });
      }
    });
    return `${this.#dependencies.baseUrl()}/console/#welcome=${token}`;
  }

  /** Reads the tenant id from the token of a link, and computes the hash of the token. */
  read(token: string): ReadToken {
    const read = this.#tokens.read(token);
    if (read === null) {
      throw invalidLink();
    }
    return read;
  }

  /** The link ends, and so do all sessions and tokens of the person. */
  async setPassword({ tenantId, hash }: ReadToken, password: string): Promise<LinkHolder> {
    const { db } = this.#dependencies;
    const link = await store.findLink(db, tenantId, hash);
    if (!link?.is_open || link.kind === 'welcome') {
      throw invalidLink();
    }
    // Hashing a password is slow. So the hash is computed before the transaction, which locks the row of the person.
    const password_hash = await hashPassword(password);
    return await inTransaction(db, (tx) =>
      usePassword(tx, { tenantId, hash, personId: link.person_id, password_hash }),
    );
  }

  /** The link of a welcome ends. If the response to the COMMIT is lost, the link is used up, and the next start prints another. */
  async useWelcome({ tenantId, hash }: ReadToken): Promise<LinkHolder> {
    return await inTransaction(this.#dependencies.db, async (tx) => {
      const link = await store.findLink(tx, tenantId, hash);
      if (!link?.is_open || link.kind !== 'welcome' || !(await store.markLinkUsed(tx, tenantId, link.id))) {
        throw invalidLink();
      }
      return { tenantId, personId: link.person_id, generation: link.generation };
    });
  }
}

interface WantedLink {
  id: string;
  hash: Buffer;
  cause: (tx: Tx, expiresAt: Date) => Promise<LinkCause>;
  /** Default: 3 days. */
  minutes?: number;
}

async function insertLink(tx: Tx, actor: Actor, { id, hash, cause, minutes }: WantedLink): Promise<store.LinkRow> {
  const expiresAt = await readLinkEnd(tx, minutes);
  const link = await store.replaceLinks(tx, actor.tenantId, { id, hash, expiresAt, ...(await cause(tx, expiresAt)) });
  const details = { kind: link.kind, expires_at: link.expires_at.toISOString() };
  await writeAuditEntries(tx, actor, [{ action: 'user.link_created', subject: link.person_id, details }]);
  return link;
}

interface ChosenPassword extends ReadToken {
  personId: string;
  password_hash: string;
}

async function usePassword(tx: Tx, { tenantId, hash, personId, password_hash }: ChosenPassword): Promise<LinkHolder> {
  // Every change of a person's links locks the person first. So two concurrent calls with one link run one after the other, and only the
  // first sets a password.
  const person = await lockUser(tx, tenantId, personId);
  if (person?.password_hash === password_hash) {
    return { tenantId, personId, generation: person.generation }; // An earlier attempt of this transaction set the password.
  }
  const link = await store.findLink(tx, tenantId, hash);
  if (person === undefined || !link?.is_open) {
    throw invalidLink();
  }
  await store.markLinkUsed(tx, tenantId, link.id);
  const changes = { password_hash, ...(isInvited(person) ? { invitation_expires_at: null } : {}) };
  await changeUser(tx, { tenantId, type: 'user', id: personId }, person, changes);
  return { tenantId, personId, generation: person.generation + 1 };
}

function invalidLink() {
  return notSignedIn('The link was used, was replaced or has expired. Ask an owner for a new link.');
}

/**
 * The mail has no text that a person chose, except the name of the tenant. Otherwise an owner could use the service to send any text to any
 * address.
 */
function linkMail(
  { name, timezone }: Tenant,
  { kind, url, expiresAt }: { kind: string; url: string; expiresAt: Date },
): { subject: string; text: string } {
  const end = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'long', timeZone: timezone }).format(
    expiresAt,
  );
  const [subject, reason] =
    kind === 'invite'
      ? [`Invitation to ${name}`, `${name} invites you to its account. Choose a password with this link:`]
      : [`New password for ${name}`, `An owner of ${name} asks you to choose a new password with this link:`];
  const text = `${reason}\n\n${url}\n\nThe link works once, until ${end}. If you do not know ${name}, ignore this mail.\n`;
  return { subject, text };
}
