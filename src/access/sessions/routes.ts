import Type from 'typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '#platform/db/database.ts';
import { apiError, invalidField } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import { authenticateToken, type SignInAttempts, type VerifyToken } from '../tenants/tenants.ts';
import { clearConsoleCookie, readConsoleCookie, refuseOtherThanConsole } from './console-cookie.ts';
import { meOf, type ServiceFacts } from './me.ts';
import { Me, SessionStart } from './schema.ts';
import { LIFETIMES, type NewSignIn, type Sessions } from './sessions.ts';

interface Dependencies {
  db: Database;
  sessions: Sessions;
  attempts: SignInAttempts;
  verifyToken: VerifyToken;
  service: ServiceFacts;
}

const SHARED = { tags: ['Sign-in'] };

export function sessionRoutes(app: App, dependencies: Dependencies): void {
  startRoute(app, dependencies);
  endRoute(app, dependencies);
}

function startRoute(app: App, dependencies: Dependencies): void {
  const { sessions, attempts, service } = dependencies;
  app.post(
    '/v1/auth/session/',
    {
      onRequest: async (request, reply) => {
        refuseOtherThanConsole(request);
        await attempts.countAddress(request, reply);
      },
      config: { errors: ['invalid_credentials', 'rate_limited'], isConsoleOnly: true },
      schema: {
        ...SHARED,
        operationId: 'startSession',
        summary: 'Sign in with a session cookie',
        description:
          'For a console in a browser. Sets a session cookie that no script can read, and returns the same as `GET /v1/staff/me/`. The ' +
          'session ends after 12 hours without a use, and after 7 days in any case. It also ends immediately if the person ' +
          'signs out or gets a new password, or if the account is disabled.\n\n' +
          'Send e-mail and password. If the operator has configured an identity provider, send its bearer token instead, without e-mail ' +
          'and password. Such a session ends after 12 hours. A token of `POST /v1/auth/token/` is refused. Attempts count against the ' +
          'same limits as those of `POST /v1/auth/token/`.\n\n' +
          'The cookie is named `__Host-roomservice` if `PUBLIC_URL` begins with `https:`, or if a trusted proxy says that the call came ' +
          'by HTTPS. Otherwise it is named `roomservice`. Later calls must send `X-Roomservice-Console: 1` beside the cookie. Without this ' +
          'header, or if another site has caused the call, the cookie does not count.',
        body: SessionStart,
        response: { 200: Me },
      },
    },
    async (request, reply) => {
      const signIn = await signInOf(request, reply, dependencies);
      return await meOf(await sessions.startFor(request, reply, signIn), service);
    },
  );
}

type StartRequest = FastifyRequest<{ Body: Type.Static<typeof SessionStart> }>;

async function signInOf(
  request: StartRequest,
  reply: FastifyReply,
  { db, attempts, verifyToken }: Dependencies,
): Promise<Omit<NewSignIn, 'address' | 'userAgent'>> {
  const { email, password } = request.body;
  const { authorization } = request.headers;
  if (authorization === undefined) {
    if (email === undefined || password === undefined) {
      throw invalidField(email === undefined ? 'email' : 'password', 'is required');
    }
    const { id, tenant_id: tenantId, generation } = await attempts.checkPassword(request, reply, { email, password });
    return { tenantId, holder: { kind: 'person', id }, generation, lifetime: LIFETIMES.password };
  }
  if (email !== undefined || password !== undefined) {
    throw invalidField(
      'body',
      'must have no e-mail and no password if the request has the header Authorization. ' +
        'Send the header, or the e-mail and the password, but not both',
    );
  }
  const { person, generation, isFromProvider } = await authenticateToken(db, verifyToken, authorization);
  if (!isFromProvider) {
    throw apiError('invalid_credentials', 'Send a token of the identity provider, or e-mail and password.', {
      'www-authenticate': 'Bearer',
    });
  }
  const holder = { kind: 'person', id: person.id } as const;
  return { tenantId: person.tenant.id, holder, generation, lifetime: LIFETIMES.provider };
}

function endRoute(app: App, { sessions }: Dependencies): void {
  app.delete(
    '/v1/auth/session/',
    {
      schema: {
        ...SHARED,
        operationId: 'endOwnSession',
        summary: 'Sign out, which ends the session of the cookie',
        description:
          'Ends the session and clears its cookie. The response is the same without a session. Without the header ' +
          '`X-Roomservice-Console: 1`, or if another site has caused the call, no session ends.',
        response: { 204: Type.Null({ description: 'The session has ended, or there was no session.' }) },
      },
    },
    async (request, reply) => {
      const token = readConsoleCookie(request);
      if (token !== null) {
        await sessions.endByToken(token);
      }
      clearConsoleCookie(request, reply);
      return reply.code(204).send(null);
    },
  );
}
