import Type from 'typebox';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { actorOf, changeProfile, type SignInAttempts } from '../tenants/tenants.ts';
import { meOf, type ServiceFacts } from './me.ts';
import { Me, MeChange, PasswordChange, Session, SessionPath, SessionQuery } from './schema.ts';
import type { Sessions } from './sessions.ts';

interface Dependencies {
  db: Database;
  sessions: Sessions;
  attempts: SignInAttempts;
  service: ServiceFacts;
  anyGuard: Guard;
  personGuard: Guard;
}

const SHARED = { tags: ['Sessions'] };
const NO_CONTENT = Type.Null({ description: 'The password is changed.' });

export function sessionStaffRoutes(app: App, dependencies: Dependencies): void {
  meRoutes(app, dependencies);
  passwordRoute(app, dependencies);
  listRoute(app, dependencies);
  endRoute(app, dependencies);
}

function meRoutes(app: App, { db, service, anyGuard, personGuard }: Dependencies): void {
  app.get(
    '/v1/staff/me/',
    {
      onRequest: anyGuard,
      schema: {
        ...SHARED,
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
        ...SHARED,
        operationId: 'changeMe',
        summary: 'Change your own name or language',
        description: 'Changes only the fields that are sent. Only an owner can change role and areas.',
        body: MeChange,
        response: { 200: Me },
      },
    },
    async (request) => {
      const { staff, body } = request;
      await inTransaction(db, (tx) => changeProfile(tx, actorOf(staff), staff.id, body));
      // The body may have other fields, for example a role. This operation ignores these fields.
      const { name = staff.name, language = staff.language } = body;
      return await meOf({ ...staff, name, language }, service);
    },
  );
}

function passwordRoute(app: App, { sessions, attempts, personGuard }: Dependencies): void {
  app.post(
    '/v1/staff/me/password/',
    {
      onRequest: [personGuard, (request, reply) => attempts.countAddress(request, reply)],
      schema: {
        ...SHARED,
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

function listRoute(app: App, { sessions, anyGuard }: Dependencies): void {
  app.get(
    '/v1/staff/sessions/',
    {
      onRequest: anyGuard,
      config: {
        errors: [{ status: 403, code: 'error', message: 'You do not have permission to perform this action.' }],
      },
      schema: {
        ...SHARED,
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
}

function endRoute(app: App, { sessions, anyGuard }: Dependencies): void {
  app.post(
    '/v1/staff/sessions/:id/end/',
    {
      onRequest: anyGuard,
      config: { errors: [{ status: 404, code: 'error', message: 'No such session.' }] },
      schema: {
        ...SHARED,
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
