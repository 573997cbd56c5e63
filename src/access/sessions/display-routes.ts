import type { App } from '#platform/http/app.ts';
import { clientNetwork } from '#platform/http/client-address.ts';
import { type BudgetStore, countCall } from '#platform/http/rate-limit.ts';
import { refuseOtherThanConsole } from './console-cookie.ts';
import { CreatedDisplay, Display, DisplayCreate, DisplayPairing, DisplayPath } from './display-schema.ts';
import type { Displays } from './displays.ts';
import { meOf, type ServiceFacts } from './me.ts';
import { Me } from './schema.ts';
import { LIFETIMES, type Sessions } from './sessions.ts';
import Type from 'typebox';
import type { Guard } from '#platform/http/guard.ts';

const PAIRINGS_PER_ADDRESS = 10;

interface Dependencies {
  displays: Displays;
  sessions: Sessions;
  budgets: BudgetStore;
  service: ServiceFacts;
}

export function displayRoutes(app: App, { displays, sessions, budgets, service }: Dependencies): void {
  const byAddress = budgets.budget('pairing-address', PAIRINGS_PER_ADDRESS);
  app.post(
    '/v1/auth/display/',
    {
      onRequest: async (request, reply) => {
        refuseOtherThanConsole(request);
        await countCall(byAddress, clientNetwork(request.clientAddress), reply);
      },
      config: { errors: ['invalid_credentials', 'rate_limited'], isConsoleOnly: true },
      schema: {
        operationId: 'pairDisplay',
        summary: 'Sign in a display with its pairing code',
        description:
          'Sets a session cookie for the display, and returns the same as `GET /v1/staff/me/`. The session ends 90 days after its last use, ' +
          'or when an owner removes the display. A code that is unknown, was used or has expired gets 401.\n\n' +
          `Attempts are limited to ${PAIRINGS_PER_ADDRESS} a minute for each client address (for IPv6, each /64 network).`,
        tags: ['Sign-in'],
        body: DisplayPairing,
        response: { 200: Me },
      },
    },
    async (request, reply) => {
      const { tenantId, displayId } = await displays.pair(request.body.pairing_code, request.clientAddress);
      const holder = { kind: 'display', id: displayId } as const;
      const signIn = { tenantId, holder, generation: null, lifetime: LIFETIMES.display };
      return await meOf(await sessions.startFor(request, reply, signIn), service);
    },
  );
}

interface StaffDependencies {
  displays: Displays;
  ownerGuard: Guard;
}

const PATH = '/v1/staff/displays/';
const SHARED = { tags: ['People'] };
const NOT_FOUND = { status: 404, code: 'error', message: 'No such display.' } as const;

export function displayStaffRoutes(app: App, { displays, ownerGuard }: StaffDependencies): void {
  app.get(
    PATH,
    {
      onRequest: ownerGuard,
      schema: {
        ...SHARED,
        operationId: 'listDisplays',
        summary: 'List the displays',
        description: 'Lists the displays that are not removed, newest first. Only the owner may call this operation.',
        response: { 200: Type.Array(Display) },
      },
    },
    async (request) => await displays.list(request.staff.tenant.id),
  );
  app.post(
    PATH,
    {
      onRequest: ownerGuard,
      schema: {
        ...SHARED,
        operationId: 'createDisplay',
        summary: 'Add a display, and make its pairing code',
        description:
          'Adds a screen, for example in the kitchen or at the front desk, that acts for the tenant without a person. Type the pairing ' +
          'code on the screen within 10 minutes. The code works once. If the code has ended, remove the display and add it again. Only ' +
          'the owner may call this operation.',
        body: DisplayCreate,
        response: { 201: CreatedDisplay },
      },
    },
    async (request, reply) => reply.code(201).send(await displays.create(request.staff, request.body)),
  );
  app.post(
    `${PATH}:id/remove/`,
    {
      onRequest: ownerGuard,
      config: { errors: [NOT_FOUND] },
      schema: {
        ...SHARED,
        operationId: 'removeDisplay',
        summary: 'Remove a display, which ends its session',
        description:
          'Ends the session of the display. Every call of the display that starts after this response is refused. Removing it again ' +
          'changes nothing and gets the same response. Only the owner may call this operation.',
        params: DisplayPath,
        response: { 200: Display },
      },
    },
    async (request) => await displays.remove(request.staff, request.params.id),
  );
}
