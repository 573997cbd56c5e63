import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import { createTenantTokens, type ReadToken, type TenantTokens } from '#platform/lib/tenant-token.ts';
import type { Mailer } from '#platform/mail/mail.ts';
import { type Actor, writeAuditEntries } from '../audit/audit.ts';
import {
  actorOf,
  changeUser,
  differing,
  hashPassword,
  lockUser,
  type Staff,
  type Tenant,
  notSignedIn,
  type UserRow,
} from '../tenants/tenants.ts';
import type { NewSignIn } from '../sessions/sessions.ts';
import * as store from './store.ts';

interface Dependencies {
  db: Database;
  pepper: Buffer;
  mailer: Pick<Mailer, 'send'> | null;
  /** Returns the URL with which links begin, without a trailing slash. */
  baseUrl: () => string;
}

/** Changes the person for whom a link is made, and returns the person and the kind of the link. */
type LinkCause = (tx: Tx, expiresAt: Date) => Promise<{ kind: store.LinkKind; personId: string }>;

export interface IssuedLink {
  person: UserRow;
  url: string;
  expiresAt: Date;
}

/** An invitation also reserves the e-mail for this time. */
const LINK_MINUTES = 3 * 24 * 60;
export const WELCOME_MINUTES = 15;

export type LinkSignIn = Pick<NewSignIn, 'tenantId' | 'holder' | 'generation'>;

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

  /** Makes a link with which a person chooses a password, ends all earlier links of the person, and sends the link by mail. */
  async issue(owner: Staff, cause: LinkCause): Promise<IssuedLink> {
    const { tenant } = owner;
    const { kind, ...issued } = await this.#make(actorOf(owner), LINK_MINUTES, cause);
    this.#dependencies.mailer?.send({
      tenantId: tenant.id,
      to: issued.person.email,
      ...linkMail(tenant, kind, issued),
      logged: { tenant_id: tenant.id, user_id: issued.person.id, mail: kind },
    });
    return issued;
  }

  /** Makes a link that signs the person in without a password. Only the operator's terminal may show it. Ends all earlier links. */
  async issueWelcome(tenantId: number, personId: string): Promise<string> {
    const operator: Actor = { tenantId, type: 'operator', id: null };
    const { url } = await this.#make(operator, WELCOME_MINUTES, async () => ({ kind: 'welcome', personId }));
    return url;
  }

  async #make(actor: Actor, minutes: number, cause: LinkCause): Promise<IssuedLink & { kind: string }> {
    const { tenantId } = actor;
    const { db, baseUrl } = this.#dependencies;
    const id = newId();
    const { token, hash } = this.#tokens.create(tenantId);
    return await inTransaction(db, async (tx) => {
      // If the link exists, an earlier attempt of this transaction was committed. Its changes must not be made again.
      const link =
        (await store.findLink(tx, tenantId, hash)) ?? (await insertLink(tx, actor, { id, hash, minutes, cause }));
      const person = (await lockUser(tx, tenantId, link.person_id)) as UserRow;
      return {
        person,
        url: `${baseUrl()}/console/#${link.kind}=${token}`,
        expiresAt: link.expires_at,
        kind: link.kind,
      };
    });
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
  async setPassword({ tenantId, hash }: ReadToken, password: string): Promise<LinkSignIn> {
    const { db } = this.#dependencies;
    const found = await store.findLink(db, tenantId, hash);
    if (!found?.is_open || found.kind === 'welcome') {
      throw invalidLink();
    }
    const personId = found.person_id;
    // Hashing a password is slow. So the hash is computed before the transaction, which locks the row of the person.
    const password_hash = await hashPassword(password);
    return await inTransaction(db, async (tx) => {
      // Every change of a person's links locks the person first. So two concurrent calls with one link run one after the other, and only the
      // first sets a password.
      const person = await lockUser(tx, tenantId, personId);
      if (person?.password_hash === password_hash) {
        return signInOf(tenantId, personId, person.generation); // An earlier attempt of this transaction set the password.
      }
      const link = await store.findLink(tx, tenantId, hash);
      if (person === undefined || !link?.is_open) {
        throw invalidLink();
      }
      await store.markLinkUsed(tx, tenantId, link.id);
      const changes = differing(person, { password_hash, invitation_expires_at: null });
      await changeUser(tx, { tenantId, type: 'user', id: personId }, person, changes);
      return signInOf(tenantId, personId, person.generation + 1);
    });
  }

  /** The link of a welcome ends. If the response to the COMMIT is lost, the link is used up, and the next start prints another. */
  async useWelcome({ tenantId, hash }: ReadToken): Promise<LinkSignIn> {
    return await inTransaction(this.#dependencies.db, async (tx) => {
      const link = await store.findLink(tx, tenantId, hash);
      if (!link?.is_open || link.kind !== 'welcome' || !(await store.markLinkUsed(tx, tenantId, link.id))) {
        throw invalidLink();
      }
      return signInOf(tenantId, link.person_id, link.generation);
    });
  }
}

interface WantedLink {
  id: string;
  hash: Buffer;
  minutes: number;
  cause: LinkCause;
}

async function insertLink(tx: Tx, actor: Actor, { id, hash, minutes, cause }: WantedLink): Promise<store.LinkRow> {
  const { tenantId } = actor;
  const expiresAt = await store.readLinkEnd(tx, minutes);
  const { kind, personId } = await cause(tx, expiresAt);
  const { generation } = (await lockUser(tx, tenantId, personId)) as UserRow;
  const link = await store.replaceLinks(tx, tenantId, { id, hash, kind, personId, generation, expiresAt });
  const details = { kind, expires_at: link.expires_at.toISOString() };
  await writeAuditEntries(tx, actor, [{ action: 'user.link_created', subject: personId, details }]);
  return link;
}

function signInOf(tenantId: number, personId: string, generation: number): LinkSignIn {
  return { tenantId, holder: { kind: 'person', id: personId }, generation };
}

function invalidLink() {
  return notSignedIn('The link was used, was replaced or has expired. Ask an owner for a new link.');
}

/**
 * The mail has no text that a person chose, except the name of the tenant. Otherwise an owner could use the service to send any text to any
 * address.
 */
function linkMail({ name, timezone }: Tenant, kind: string, { url, expiresAt }: Pick<IssuedLink, 'url' | 'expiresAt'>) {
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
