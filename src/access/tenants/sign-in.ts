import type { FastifyReply, FastifyRequest } from 'fastify';
import { prepareAudit } from '../audit/audit.ts';
import type { Database } from '#platform/db/database.ts';
import { clientNetwork } from '#platform/http/client-address.ts';
import { type Budget, type BudgetStore, countCall } from '#platform/http/rate-limit.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { keyedHash } from '#platform/lib/keyed-hash.ts';
import { decoyHash, isPassword } from './passwords.ts';
import * as store from './store.ts';
import { isInvited, normaliseEmail, notSignedIn } from './users.ts';

/** Both limits are checked before a password is hashed (rule 8). */
export const SIGN_INS_PER_ADDRESS = 100;
export const SIGN_INS_PER_EMAIL = 10;

/** E-mail and password of an attempt to sign in. `refusal` replaces the usual error message of a refused attempt. */
interface Attempt {
  email: string;
  password: string;
  refusal?: string;
}

/**
 * Checks passwords of users. The operations that take a password share one object of this class, so that the attempts at all these
 * operations count against the same limits.
 */
export class SignInAttempts {
  readonly #db: Database;
  readonly #hashOf: (userAndNetwork: string) => Buffer;
  readonly #byAddress: Budget;
  readonly #byEmail: Budget;
  /**
   * Budget of the attempts with one e-mail from one client address, if the user has signed in from this address before. Attempts from other
   * addresses cannot use up this budget.
   */
  readonly #byKnownAddress: Budget;

  constructor({ db, pepper, budgets }: { db: Database; pepper: Buffer; budgets: BudgetStore }) {
    this.#db = db;
    this.#hashOf = keyedHash(pepper, 'sign-in-address');
    this.#byAddress = budgets.budget('sign-in-address', SIGN_INS_PER_ADDRESS);
    this.#byEmail = budgets.budget('sign-in-email', SIGN_INS_PER_EMAIL);
    this.#byKnownAddress = budgets.budget('sign-in-known-address', SIGN_INS_PER_EMAIL);
  }

  /** A request hook calls this method before the body is read. */
  async countAddress(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await countCall(this.#byAddress, clientNetwork(request.clientAddress), reply);
  }

  /**
   * Counts an attempt with the e-mail, and checks the password (rule 12). Does the same work for a known and for an unknown e-mail, so
   * that the client sees no difference.
   */
  async checkPassword(request: FastifyRequest, reply: FastifyReply, attempt: Attempt): Promise<store.SigningInUser> {
    const email = normaliseEmail(attempt.email);
    const network = clientNetwork(request.clientAddress);
    // Only this hash of the address is stored. It differs for each user, so the table does not show which users share an address.
    const hashAddress = (userId: string) => this.#hashOf(`${userId} ${network}`);
    const user = await store.findSigningInUser(this.#db, email, hashAddress);
    const isAddressKnown = hasSignedInSince(user, -KNOWN_DAYS);
    const addressKey = user?.address.hash.toString('base64') ?? '';
    await (isAddressKnown
      ? countCall(this.#byKnownAddress, addressKey, reply)
      : countCall(this.#byEmail, email, reply));
    const checked = await this.#check(request, user, attempt);
    if (!isAddressKnown) {
      // The address is known from now on, and this sign-in counts as the first attempt in its budget.
      await this.#byKnownAddress.take(addressKey);
    }
    return checked;
  }

  async #check(
    request: FastifyRequest,
    user: store.SigningInUser | undefined,
    { password, refusal }: Attempt,
  ): Promise<store.SigningInUser> {
    const onError = (error: unknown) =>
      request.log.warn(
        { err: error },
        'the client address or the audit entry of a sign-in could not be written to the database; the sign-in itself is not affected',
      );
    const hasAccess = user !== undefined && user.is_active && !isInvited(user);
    const isRight = await isPassword(password, hasAccess ? user.password_hash : await decoyHash());
    if (!hasAccess || !isRight) {
      if (user !== undefined) {
        void this.#writeFailure(user, request.clientAddress).catch(onError);
      }
      throw notSignedIn(refusal ?? 'The e-mail or the password is wrong.');
    }
    await rememberAddress(this.#db, user).catch(onError);
    return user;
  }

  /** The response does not wait for this write, because a longer response time would show that the e-mail belongs to a user. */
  async #writeFailure(user: store.UserRow, address: string): Promise<void> {
    const writeDown = prepareAudit({ tenantId: user.tenant_id, type: 'anonymous', id: null });
    await writeDown(this.#db, { action: 'sign_in.failed', subject: user.id, details: { email: user.email, address } });
  }
}

/** Number of days for which a client address stays known for a user after the user's last sign-in from this address. */
const KNOWN_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Maximum number of sign-in addresses that are stored for each user. The latest ones are kept. */
const MAX_ADDRESSES = 20;

async function rememberAddress(db: Database, user: store.SigningInUser): Promise<void> {
  if (hasSignedInSince(user, 0)) {
    return;
  }
  const kept = { after: startOfDay(-KNOWN_DAYS), most: MAX_ADDRESSES };
  await inTransaction(db, (tx) => store.storeSignInAddress(tx, user, new Date(), kept));
}

/** Returns true if the user has signed in from the address of this attempt since the start of a day. Today is the day 0. */
function hasSignedInSince(user: store.SigningInUser | undefined, day: number): boolean {
  const at = user?.address.signed_in_at ?? null;
  return at !== null && at >= startOfDay(day);
}

function startOfDay(day: number): Date {
  return new Date((Math.floor(Date.now() / DAY_MS) + day) * DAY_MS);
}
