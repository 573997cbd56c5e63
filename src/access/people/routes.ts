import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { App } from '#platform/http/app.ts';
import { clientNetwork } from '#platform/http/client-address.ts';
import type { Guard } from '#platform/http/guard.ts';
import { type BudgetStore, countCall } from '#platform/http/rate-limit.ts';
import { LIFETIMES, Me, meOf, refuseOtherThanConsole, type ServiceFacts, type Sessions } from '../sessions/sessions.ts';
import { type Links, type LinkSignIn, WELCOME_MINUTES } from './links.ts';
import {
  Invitation,
  LinkPassword,
  PasswordReset,
  Person,
  PersonChange,
  PersonInvite,
  PersonPath,
  WelcomeLink,
} from './schema.ts';
import { type People, personShape } from './people.ts';

/** Both limits are checked before a password is hashed. */
const CALLS_PER_ADDRESS = 100;
const CALLS_PER_LINK = 10;

const LIMITS =
  `Calls are limited to ${CALLS_PER_ADDRESS} a minute for each client address (for IPv6, each /64 network), and to ` +
  `${CALLS_PER_LINK} a minute for each link`;

interface Dependencies {
  links: Links;
  sessions: Sessions;
  budgets: BudgetStore;
  service: ServiceFacts;
}

/** The routes of all links share the budgets, so that no route gives further attempts at a token. */
export function linkRoutes(app: App, { links, sessions, budgets, service }: Dependencies): void {
  const byAddress = budgets.budget('link-address', CALLS_PER_ADDRESS);
  const byLink = budgets.budget('link', CALLS_PER_LINK);
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    refuseOtherThanConsole(request);
    await countCall(byAddress, clientNetwork(request.clientAddress), reply);
  };
  const read = async (token: string, reply: FastifyReply) => {
    const link = links.read(token);
    await countCall(byLink, link.hash.toString('base64'), reply);
    return link;
  };
  const start = async (request: FastifyRequest, reply: FastifyReply, signIn: LinkSignIn) =>
    await meOf(await sessions.startFor(request, reply, { ...signIn, lifetime: LIFETIMES.password }), service);
  app.post(
    '/v1/auth/password/',
    {
      onRequest,
      config: { errors: ['invalid_credentials', 'rate_limited'], isConsoleOnly: true },
      schema: {
        operationId: 'choosePassword',
        summary: 'Choose a password with the link of an invitation or a reset',
        description:
          'Sets the password of the person whom the link is for, and signs the person in with a session cookie, as `POST /v1/auth/session/` ' +
          'does. The link works once, within 3 days. A link that was used, replaced by a newer one or has expired gets 401, and so does the ' +
          `link of a disabled person.\n\n${LIMITS}.`,
        tags: ['Sign-in'],
        body: LinkPassword,
        response: { 200: Me },
      },
    },
    async (request, reply) => {
      const link = await read(request.body.token, reply);
      return await start(request, reply, await links.setPassword(link, request.body.new_password));
    },
  );
  app.post(
    '/v1/auth/welcome/',
    {
      onRequest,
      config: { errors: ['invalid_credentials', 'rate_limited'], isConsoleOnly: true },
      schema: {
        operationId: 'welcomeOwner',
        summary: 'Sign in the owner of the demo with the link that the start printed',
        description:
          'Signs in the owner of the demo tenant with a session cookie, as `POST /v1/auth/session/` does. Only `serve --demo` prints such a ' +
          `link, and only on a terminal. The link works once, within ${WELCOME_MINUTES} minutes. A link that was used, was replaced by the ` +
          `link of a later start or has expired gets 401.\n\n${LIMITS}, together with \`POST /v1/auth/password/\`.`,
        tags: ['Sign-in'],
        body: WelcomeLink,
        response: { 200: Me },
      },
    },
    async (request, reply) => {
      const link = await read(request.body.token, reply);
      return await start(request, reply, await links.useWelcome(link));
    },
  );
}

const PATH = '/v1/staff/people/';
const SHARED = { tags: ['People'] };
const NOT_FOUND = { status: 404, code: 'error', message: 'No such person.' } as const;

interface StaffDependencies {
  people: People;
  ownerGuard: Guard;
}

export function peopleStaffRoutes(app: App, dependencies: StaffDependencies): void {
  listAndInvite(app, dependencies);
  changeAndReset(app, dependencies);
}

function listAndInvite(app: App, { people, ownerGuard }: StaffDependencies): void {
  app.get(
    PATH,
    {
      onRequest: ownerGuard,
      schema: {
        ...SHARED,
        operationId: 'listPeople',
        summary: 'List the owners and the staff',
        description:
          'Lists all people of the tenant, newest first, also the disabled and the invited ones. Only the owner may call this operation.',
        response: { 200: Type.Array(Person) },
      },
    },
    async (request) => await people.list(request.staff.tenant.id),
  );
  app.post(
    PATH,
    {
      onRequest: ownerGuard,
      config: { errors: ['invalid_status_transition'] },
      schema: {
        ...SHARED,
        operationId: 'invitePerson',
        summary: 'Invite a person',
        description:
          'Adds a person who cannot sign in yet, and makes a link with which the person chooses a password. The link works once, within 3 ' +
          'days. Only this response shows it. If the operator has configured mail, the service also sends the link to the person.\n\n' +
          'An e-mail address belongs to at most one person of all tenants. An invitation holds the address for 3 days. After that time, ' +
          'the address may be invited again, also by another tenant. Only the owner may call this operation.',
        body: PersonInvite,
        response: { 201: Invitation },
      },
    },
    async (request, reply) => {
      const { person, url, expiresAt } = await people.invite(request.staff, request.body);
      const invitation = { person: personShape(person), invite_url: url, expires_at: expiresAt.toISOString() };
      return reply.code(201).send(invitation);
    },
  );
}

function changeAndReset(app: App, { people, ownerGuard }: StaffDependencies): void {
  app.patch(
    `${PATH}:id/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND, 'invalid_status_transition'] },
      schema: {
        ...SHARED,
        operationId: 'changePerson',
        summary: 'Change, disable or enable a person',
        description:
          'Changes the name, the role and the areas of a person, or disables and enables the account. The next call of the person sees the ' +
          'change. A person is never removed, because orders and stays name the people who changed them.\n\n' +
          'The last active owner cannot be disabled or become staff. Owners who are only invited do not count. Only the owner may call ' +
          'this operation.',
        params: PersonPath,
        body: PersonChange,
        response: { 200: Person },
      },
    },
    async (request) => await people.change(request.staff, request.params.id, request.body),
  );
  app.post(
    `${PATH}:id/reset/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND, 'invalid_status_transition'] },
      schema: {
        ...SHARED,
        operationId: 'resetPerson',
        summary: 'Make a link with which a person chooses a new password',
        description:
          'Ends the password, all sessions, all tokens and all earlier links of the person immediately, and makes a new link. The link works ' +
          'once, within 3 days. Only this response shows it. If the operator has configured mail, the service also sends the link to the ' +
          'person.\n\n' +
          'A person who has not accepted the invitation gets a new invitation. Enable a disabled person first. Only the owner may call ' +
          'this operation.',
        params: PersonPath,
        response: { 200: PasswordReset },
      },
    },
    async (request) => {
      const { person, url, expiresAt } = await people.reset(request.staff, request.params.id);
      return { person: personShape(person), reset_url: url, expires_at: expiresAt.toISOString() };
    },
  );
}
