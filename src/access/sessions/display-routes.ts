import type { App } from '#platform/http/app.ts';
import { clientNetwork } from '#platform/http/client-address.ts';
import { type BudgetStore, countCall } from '#platform/http/rate-limit.ts';
import { refuseOtherThanConsole } from './console-cookie.ts';
import { DisplayPairing } from './display-schema.ts';
import type { Displays } from './displays.ts';
import { meOf, type ServiceFacts } from './me.ts';
import { Me } from './schema.ts';
import { LIFETIMES, type Sessions } from './sessions.ts';

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
