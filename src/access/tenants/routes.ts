import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import { clientNetwork } from '#platform/http/client-address.ts';
import { type BudgetStore, takeFromBudget } from '#platform/http/rate-limit.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { normaliseEmail } from './email.ts';
import { SignInRequest, SignInResponse } from './schema.ts';
import { findAccount, signIn } from './sign-in.ts';
import { createAddressHash } from './sign-in-addresses.ts';

/** Decision 8: before any password is hashed. */
const SIGN_INS_PER_ADDRESS = 100;
const SIGN_INS_PER_EMAIL = 10;

interface Dependencies {
  db: Database;
  keyring: Pick<Keyring, 'pepper' | 'token'>;
  budgets: BudgetStore;
}

export function authRoutes(app: App, { db, keyring, budgets }: Dependencies): void {
  const byAddress = budgets.budget('sign-in-address', SIGN_INS_PER_ADDRESS);
  const byEmail = budgets.budget('sign-in-email', SIGN_INS_PER_EMAIL);
  // Of the same size, so that no header tells which of the two an attempt was counted in.
  const byKnownAddress = budgets.budget('sign-in-known-address', SIGN_INS_PER_EMAIL);
  const hashAddress = createAddressHash(keyring.pepper);
  app.post(
    '/v1/auth/token/',
    {
      onRequest: (request, reply) => takeFromBudget(byAddress, clientNetwork(request.ip), reply),
      config: { errors: ['invalid_credentials', 'rate_limited'] },
      schema: {
        operationId: 'signIn',
        summary: 'Sign in as owner or staff',
        description:
          'Exchanges e-mail and password for a bearer token that lasts 8 hours. An unknown e-mail, a wrong password ' +
          'and a disabled account are all answered alike. The account is looked up at every use of the token, so one ' +
          'that is disabled stops at once, and a new password ends the tokens of before.\n\n' +
          `Attempts are limited to ${SIGN_INS_PER_EMAIL} a minute for an e-mail and ${SIGN_INS_PER_ADDRESS} a minute ` +
          'for a client address (of IPv6, a /64), successful ones included. An address from which the account was ' +
          `signed in to within 30 days has ${SIGN_INS_PER_EMAIL} a minute for it of its own: wrong passwords from ` +
          'elsewhere do not lock it out.',
        tags: ['Sign-in'],
        body: SignInRequest,
        response: { 200: SignInResponse },
      },
    },
    async (request, reply) => {
      const { email, password } = request.body;
      const account = await findAccount({ db, hashAddress }, { email, network: clientNetwork(request.ip) });
      const { user, isAddressKnown } = account;
      const addressKey = user?.address.hash.toString('base64') ?? '';
      await (isAddressKnown
        ? takeFromBudget(byKnownAddress, addressKey, reply)
        : takeFromBudget(byEmail, normaliseEmail(email), reply));
      const onError = (error: unknown) => request.log.warn({ err: error }, 'a sign-in could not be written down');
      const answer = await signIn({ db, tokenKey: keyring.token, onError }, account, { password, address: request.ip });
      if (!isAddressKnown) {
        await byKnownAddress.take(addressKey); // From now on it is known: this is its first.
      }
      return answer;
    },
  );
}
