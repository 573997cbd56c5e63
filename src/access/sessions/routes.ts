import Type from 'typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '#platform/db/database.ts';
import { invalidField, noSuch, PERMISSION_DENIED } from '#platform/errors.ts';
import type { App } from '#platform/http/app.ts';
import { authenticateToken, notSignedIn, type SignInAttempts, type VerifyToken } from '../tenants/tenants.ts';
import { clearConsoleCookie, readConsoleCookie, refuseOtherThanConsole } from './console-cookie.ts';
import { changeMe, meOf, type ServiceFacts } from './me.ts';
import { Me, MeChange, PasswordChange, Session, SessionPath, SessionQuery, SessionStart } from './schema.ts';
import { LIFETIMES, type NewSignIn, type Sessions } from './sessions.ts';
import type { Guard } from '#platform/http/guard.ts';

interface Dependencies {
  db: Database;
  sessions: Sessions;
  attempts: SignInAttempts;
  verifyToken: VerifyToken;
  service: ServiceFacts;
}

const SHARED = { tags: ['Sign-in'] };

export function sessionRoutes(app: App, dependencies: Dependencies): void {
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
  const { person, isFromProvider } = await authenticateToken(db, verifyToken, authorization);
  if (!isFromProvider) {
    throw notSignedIn('Send a token of the identity provider, or e-mail and password.');
  }
  const { id, tenant, session } = person;
  return {
    tenantId: tenant.id,
    holder: { kind: 'person', id },
    generation: session.generation,
    lifetime: LIFETIMES.provider,
  };
}

interface StaffDependencies {
  db: Database;
  sessions: Sessions;
  attempts: SignInAttempts;
  service: ServiceFacts;
  anyGuard: Guard;
  personGuard: Guard;
}

const STAFF = { tags: ['Sessions'] };
const NO_CONTENT = Type.Null({ description: 'The password is changed.' });

export function sessionStaffRoutes(app: App, dependencies: StaffDependencies): void {
  ownRoutes(app, dependencies);
  listAndEnd(app, dependencies);
}

function ownRoutes(app: App, { db, sessions, attempts, service, anyGuard, personGuard }: StaffDependencies): void {
  app.get(
    '/v1/staff/me/',
    {
      onRequest: anyGuard,
      schema: {
        ...STAFF,
        operationId: 'getMe',
        summary: 'Read who calls, with the tenant, the session and the service',
        description: 'Returns the person or the display of the call, its areas, and facts that a console needs.',
        response: { 200: Me },
      },
    },
    async (request) => await meOf(request.staff, service),
  );
  app.patch(
    '/v1/staff/me/',
    {
      onRequest: personGuard,
      schema: {
        ...STAFF,
        operationId: 'changeMe',
        summary: 'Change your own name or language',
        description: 'Changes only the fields that are sent. Only an owner can change role and areas.',
        body: MeChange,
        response: { 200: Me },
      },
    },
    async ({ staff, body }) => await meOf(await changeMe(db, staff, body), service),
  );
  app.post(
    '/v1/staff/me/password/',
    {
      onRequest: [personGuard, (request, reply) => attempts.countAddress(request, reply)],
      config: { errors: ['rate_limited'], isCountedLate: true },
      schema: {
        ...STAFF,
        operationId: 'changePassword',
        summary: 'Change your own password',
        description:
          'Replaces the password. All other sessions of the person end, and all bearer tokens, also the token of this call. The session of ' +
          'this call does not end. A wrong current password gets 401, and counts as an attempt to sign in.',
        body: PasswordChange,
        response: { 204: NO_CONTENT },
      },
    },
    async (request, reply) => {
      const { staff, body } = request;
      const attempt = {
        email: staff.email ?? '',
        password: body.current_password,
        refusal: 'The current password is wrong.',
      };
      const { password_hash: checked } = await attempts.checkPassword(request, reply, attempt);
      await sessions.changePassword(staff, checked, body.new_password);
      return reply.code(204).send(null);
    },
  );
}

function listAndEnd(app: App, { sessions, anyGuard }: StaffDependencies): void {
  app.get(
    '/v1/staff/sessions/',
    {
      onRequest: anyGuard,
      config: { errors: [PERMISSION_DENIED] },
      schema: {
        ...STAFF,
        operationId: 'listSessions',
        summary: 'List the sessions that have not ended',
        description:
          'Lists the sessions of the caller, newest first, or with `person_id` those of a person. Only the owner may list the sessions of ' +
          'others. A person has at most 100 sessions, because a further sign-in ends the oldest one. Bearer tokens are not listed.',
        querystring: SessionQuery,
        response: { 200: Type.Array(Session) },
      },
    },
    async (request) => await sessions.list(request.staff, request.query.person_id),
  );
  app.post(
    '/v1/staff/sessions/:id/end/',
    {
      onRequest: anyGuard,
      config: { errors: [noSuch('session')] },
      schema: {
        ...STAFF,
        operationId: 'endSession',
        summary: 'End a session',
        description:
          'Refuses every call of the session that begins after this response, on every node. Everyone may end their own sessions, and an ' +
          'owner every session of the tenant. Ending it again changes nothing and gets the same response.',
        params: SessionPath,
        response: { 200: Session },
      },
    },
    async (request) => await sessions.end(request.staff, request.params.id),
  );
}
