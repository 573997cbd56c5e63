import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { type BudgetStore, takeFromBudget } from '../http/rate-limit.ts';
import { SignInRequest, SignInResponse } from './schema.ts';
import { normaliseEmail } from './email.ts';
import { signIn } from './sign-in.ts';

/** Decision 8: before any password is hashed. */
const SIGN_INS_PER_ADDRESS = 100;
const SIGN_INS_PER_EMAIL = 10;

export function authRoutes(app: App, deps: { db: Database; tokenKey: Buffer; budgets: BudgetStore }): void {
  const byAddress = deps.budgets.budget('sign-in-address', SIGN_INS_PER_ADDRESS);
  const byEmail = deps.budgets.budget('sign-in-email', SIGN_INS_PER_EMAIL);
  app.post(
    '/v1/auth/token/',
    {
      onRequest: (request, reply) => takeFromBudget(byAddress, request.ip, reply),
      config: { errors: ['invalid_credentials', 'rate_limited'] },
      schema: {
        operationId: 'signIn',
        summary: 'Sign in as owner or staff',
        description:
          'Exchanges e-mail and password for a bearer token that lasts 8 hours. An unknown e-mail, a wrong password ' +
          'and a disabled account are all answered alike. The account is looked up at every use of the token, so one ' +
          'that is disabled stops at once, and a new password ends the tokens of before.\n\n' +
          `Attempts are limited to ${SIGN_INS_PER_EMAIL} a minute for an e-mail and ${SIGN_INS_PER_ADDRESS} a minute ` +
          'for a client address, successful ones included.',
        tags: ['Sign-in'],
        body: SignInRequest,
        response: { 200: SignInResponse },
      },
    },
    async (request, reply) => {
      const { email, password } = request.body;
      await takeFromBudget(byEmail, normaliseEmail(email), reply);
      const onError = (error: unknown) =>
        request.log.warn({ err: error }, 'a failed sign-in could not be written down');
      return await signIn({ ...deps, onError }, { email, password, address: request.ip });
    },
  );
}
