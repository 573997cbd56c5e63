import type { Database } from '#platform/db/database.ts';
import type { App } from '#platform/http/app.ts';
import { clientNetwork } from '#platform/http/client-address.ts';
import { type BudgetStore, countCall } from '#platform/http/rate-limit.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { normaliseEmail } from './email.ts';
import { SignInRequest, SignInResponse } from './schema.ts';
import { findAccount, signIn } from './sign-in.ts';
import { createAddressHash } from './sign-in-addresses.ts';

/**
 * Maximum numbers of sign-ins per minute: from one client address, and with one e-mail. Both are checked before a password is hashed
 * (decision 8).
 */
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
  // The budget of a known address has the same limit as `byEmail`. So the limit in the response header does not show if the address is
  // known for this e-mail.
  const byKnownAddress = budgets.budget('sign-in-known-address', SIGN_INS_PER_EMAIL);
  const hashAddress = createAddressHash(keyring.pepper);
  app.post(
    '/v1/auth/token/',
    {
      onRequest: (request, reply) => countCall(byAddress, clientNetwork(request.ip), reply),
      config: { errors: ['invalid_credentials', 'rate_limited'] },
      schema: {
        operationId: 'signIn',
        summary: 'Sign in as owner or staff',
        description:
          'Exchanges e-mail and password for a bearer token that lasts 8 hours. An unknown e-mail, a wrong password ' +
          'and a disabled account get the same response. The service reads the account at every use of the token. So ' +
          'the tokens of a disabled account stop immediately, and a new password ends all earlier tokens.\n\n' +
          `Attempts are limited to ${SIGN_INS_PER_EMAIL} a minute for each e-mail and ${SIGN_INS_PER_ADDRESS} a minute ` +
          'for each client address (for IPv6, each /64 network). Successful attempts count too. A client address that ' +
          `signed in to the account within the last 30 days has its own limit of ${SIGN_INS_PER_EMAIL} a minute for ` +
          'this account. So wrong passwords from other addresses do not block this address.',
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
        ? countCall(byKnownAddress, addressKey, reply)
        : countCall(byEmail, normaliseEmail(email), reply));
      const onError = (error: unknown) => request.log.warn({ err: error }, 'a sign-in could not be recorded');
      const answer = await signIn({ db, tokenKey: keyring.token, onError }, account, { password, address: request.ip });
      if (!isAddressKnown) {
        // The sign-in made the client address known, so the address now has its own budget. The sign-in counts as the first call against
        // this budget.
        await byKnownAddress.take(addressKey);
      }
      return answer;
    },
  );
}
