import type { App } from '#platform/http/app.ts';
import { type Feature, type Role, SignInRequest, SignInResponse } from './schema.ts';
import { SIGN_INS_PER_ADDRESS, SIGN_INS_PER_EMAIL, type SignInAttempts } from './sign-in.ts';
import { issueToken, TOKEN_SECONDS } from './tokens.ts';

export function authRoutes(app: App, { attempts, tokenKey }: { attempts: SignInAttempts; tokenKey: Buffer }): void {
  app.post(
    '/v1/auth/token/',
    {
      onRequest: (request, reply) => attempts.countAddress(request, reply),
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
      const user = await attempts.checkPassword(request, reply, request.body);
      const { id, name, features } = user.tenant;
      const { generation } = user;
      return {
        access_token: await issueToken(tokenKey, { tenantId: id, userId: user.id, generation }),
        token_type: 'Bearer' as const,
        expires_in: TOKEN_SECONDS,
        role: user.role as Role,
        tenant: { id, name, features: features as Feature[] },
      };
    },
  );
}
