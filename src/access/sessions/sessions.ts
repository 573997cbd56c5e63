/** Sessions of people and displays in a browser, and who may call the staff API with which right. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { writeAuditEntries } from '../audit/audit.ts';
import {
  actorOf,
  changeUser,
  differing,
  hashPassword,
  lockUser,
  orderedAreas,
  personOf,
  type Staff,
  tenantOf,
  updateLastUses,
  notSignedIn,
} from '../tenants/tenants.ts';
import type { Database } from '#platform/db/database.ts';
import { collectLastUses, type LastUsed } from '#platform/db/last-used.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { orNotFound, permissionDenied } from '#platform/errors.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import { createTenantTokens, type TenantTokens } from '#platform/lib/tenant-token.ts';
import { setConsoleCookie } from './console-cookie.ts';
import type { Session } from './schema.ts';
import * as store from './store.ts';
import type { NewSignIn } from './store.ts';

export { refuseOtherThanConsole } from './console-cookie.ts';
export { findEndedCallers } from './caller-checks.ts';
export { meOf, type ServiceFacts } from './me.ts';
export { Me } from './schema.ts';
export type { NewSignIn } from './store.ts';

const HOUR = 60 * 60;
const DAY = 24 * HOUR;

/** Lifetime of a session for each way of signing in. */
export const LIFETIMES = {
  password: { idleSeconds: 12 * HOUR, lifetimeSeconds: 7 * DAY },
  provider: { idleSeconds: 12 * HOUR, lifetimeSeconds: 12 * HOUR },
  display: { idleSeconds: 90 * DAY, lifetimeSeconds: null },
} as const satisfies Record<string, store.Lifetime>;

/** Browsers keep no cookie longer. */
const MAX_COOKIE_SECONDS = 400 * DAY;
/** Days for which the row of a person's session is kept after the sign-in. The session itself ends earlier. */
const KEPT_DAYS = 30;
/** Largest number of sessions of a person. A further sign-in ends the oldest one. */
const MAX_SESSIONS = 100;
/** The client chooses this text, so without the limit it could store a text of any length. */
const MAX_USER_AGENT = 300;

interface Dependencies {
  db: Database;
  pepper: Buffer;
  /** Called if a background write of `last_used_at` of sessions or of `last_seen_at` of people fails. */
  onError: (error: unknown) => void;
}

/** The cookie of a session holds a token, and the row of the session holds the hash of this token. */
export class Sessions {
  readonly #db: Database;
  readonly #tokens: TenantTokens;
  readonly #uses: LastUsed;
  readonly #seen: LastUsed;

  constructor({ db, pepper, onError }: Dependencies) {
    this.#db = db;
    this.#tokens = createTenantTokens(pepper, 'session');
    const collectFor = (table: 'session' | 'app_user') =>
      collectLastUses(async (uses, nowMs) => {
        await updateLastUses(db, table, uses, nowMs);
        return () => true;
      }, onError);
    this.#uses = collectFor('session');
    this.#seen = collectFor('app_user');
  }

  async start(signIn: NewSignIn): Promise<{ token: string; staff: Staff }> {
    const { tenantId, holder } = signIn;
    const id = newId();
    const { token, hash } = this.#tokens.create(tenantId);
    const userAgent = signIn.userAgent.slice(0, MAX_USER_AGENT);
    await inTransaction(this.#db, async (tx) => {
      await store.insertSession(tx, { ...signIn, userAgent, id, hash });
      if (holder.kind === 'person') {
        await store.removeOldSessions(tx, tenantId, holder.id, { days: KEPT_DAYS, keep: MAX_SESSIONS });
      }
    });
    const found = await store.findSession(this.#db, tenantId, hash);
    if (found === undefined) {
      throw sessionEnded();
    }
    return { token, staff: staffOf(found) };
  }

  async startFor(
    request: FastifyRequest,
    reply: FastifyReply,
    signIn: Omit<NewSignIn, 'address' | 'userAgent'>,
  ): Promise<Staff> {
    const client = { address: request.clientAddress, userAgent: request.headers['user-agent'] ?? '' };
    const { token, staff } = await this.start({ ...signIn, ...client });
    setConsoleCookie(request, reply, token, signIn.lifetime.lifetimeSeconds ?? MAX_COOKIE_SECONDS);
    return staff;
  }

  /**
   * Reads the session and its person or display at every call, so that ending the session takes effect immediately, on every node.
   * @param isStream true for a call that opens a stream. It is no use of the session of a person, because an unattended page opens its
   * stream again by itself (docs/decisions/0018-live-changes.md)
   */
  async authenticate(token: string, isStream = false): Promise<Staff> {
    const read = this.#tokens.read(token);
    const found = read === null ? undefined : await store.findSession(this.#db, read.tenantId, read.hash);
    if (found === undefined) {
      throw sessionEnded();
    }
    const staff = staffOf(found);
    if (isStream && staff.type === 'person') {
      return staff;
    }
    if (found.is_use_due) {
      this.noteUse(staff);
    }
    if (staff.type === 'person' && found.is_seen_due) {
      this.noteSeen(staff);
    }
    return staff;
  }

  /** Does nothing for a caller without a session, who authenticates with a bearer token. */
  noteUse({ tenant, session }: Staff): void {
    if (session.id !== null) {
      this.#uses.touch(tenant.id, session.id);
    }
  }

  noteSeen({ tenant, id }: Staff): void {
    this.#seen.touch(tenant.id, id);
  }

  async endByToken(token: string): Promise<void> {
    const read = this.#tokens.read(token);
    if (read !== null) {
      await store.endSession(this.#db, read.tenantId, { hash: read.hash });
    }
  }

  /** If `personId` is undefined, lists the sessions of the caller. */
  async list(staff: Staff, personId: string | undefined): Promise<Session[]> {
    const own: store.Holder = { kind: staff.type, id: staff.id };
    const wanted: store.Holder = personId === undefined ? own : { kind: 'person', id: personId.toLowerCase() };
    if (staff.role !== 'owner' && (wanted.kind !== own.kind || wanted.id !== own.id)) {
      throw permissionDenied();
    }
    const rows = await store.listSessions(this.#db, staff.tenant.id, wanted, MAX_SESSIONS);
    return rows.map((row) => sessionShape(row, staff));
  }

  /**
   * Writes an audit entry if the session is not the caller's own.
   * @throws ApiError 404 for an unknown session, and for the session of somebody else if the caller is not an owner
   */
  async end(staff: Staff, id: string): Promise<Session> {
    const tenantId = staff.tenant.id;
    return await inTransaction(this.#db, async (tx) => {
      const found = isUuid(id) ? await store.lockSession(tx, tenantId, id) : undefined;
      const holderId = found?.person_id ?? found?.display_id ?? '';
      const isOwn = holderId === staff.id;
      const session = orNotFound(isOwn || staff.role === 'owner' ? found : undefined, 'session');
      if (session.ended_at === null) {
        await store.endSession(tx, tenantId, { id });
        const details = { session_id: id, kind: session.kind };
        const entries = isOwn ? [] : [{ action: 'session.ended' as const, subject: holderId, details }];
        await writeAuditEntries(tx, actorOf(staff), entries);
      }
      return sessionShape(session, staff);
    });
  }

  /**
   * All tokens of the person end, and all sessions except the session of this call.
   * @param checked stored hash with which the current password was compared
   */
  async changePassword(staff: Staff, checked: string, password: string): Promise<void> {
    const { tenant, session } = staff;
    const password_hash = await hashPassword(password);
    await inTransaction(this.#db, async (tx) => {
      const user = await lockUser(tx, tenant.id, staff.id);
      // An earlier attempt of this transaction may have been committed.
      const isStored = user?.password_hash === password_hash;
      if (user === undefined || !(isStored || user.password_hash === checked)) {
        throw notSignedIn('The password was changed meanwhile. Sign in again.');
      }
      await changeUser(tx, actorOf(staff), user, differing(user, { password_hash }));
      if (session.id !== null) {
        await store.setGeneration(tx, tenant.id, session.id, isStored ? user.generation : user.generation + 1);
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#uses.close(), this.#seen.close()]);
  }
}

function sessionEnded() {
  return notSignedIn('The session has ended. Sign in again at /v1/auth/session/.');
}

function staffOf(found: store.FoundSession): Staff {
  const { id, person_id, display_id, name, email, role, language, tenant, now, ends_at: expiresAt } = found;
  if (person_id !== null && email !== null && role !== null) {
    const user = { id: person_id, name, email, role, areas: found.person_areas ?? [], language, tenant };
    return personOf(user, { kind: 'person', id, generation: null, expiresAt, now });
  }
  const areas = orderedAreas(found.display_areas ?? []);
  const session = { kind: 'display' as const, id, generation: null, expiresAt, now };
  const display = { id: display_id ?? '', name: found.label, areas, tenant: tenantOf(tenant), session };
  return { type: 'display', email: null, role: null, language: null, ...display };
}

function sessionShape(row: store.SessionRow, staff: Staff): Session {
  return {
    id: row.id,
    person_id: row.person_id,
    display_id: row.display_id,
    kind: row.kind as Session['kind'],
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at.toISOString(),
    address: row.address,
    user_agent: row.user_agent,
    is_current: row.id === staff.session.id,
  };
}
