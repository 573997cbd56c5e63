import type { App } from '#platform/http/app.ts';
import { clientNetwork } from '#platform/http/client-address.ts';
import { type BudgetStore, countCall } from '#platform/http/rate-limit.ts';
import { LIFETIMES, Me, meOf, refuseOtherThanConsole, type ServiceFacts, type Sessions } from '../sessions/sessions.ts';
import type { Links } from './links.ts';
import { LinkPassword } from './schema.ts';

/** Both limits are checked before a password is hashed. */
const CALLS_PER_ADDRESS = 100;
const CALLS_PER_LINK = 10;

interface Dependencies {
  links: Links;
  sessions: Sessions;
  budgets: BudgetStore;
  service: ServiceFacts;
}

export function linkRoutes(app: App, { links, sessions, budgets, service }: Dependencies): void {
  const byAddress = budgets.budget('link-address', CALLS_PER_ADDRESS);
  const byLink = budgets.budget('link', CALLS_PER_LINK);
  app.post(
    '/v1/auth/password/',
    {
      onRequest: async (request, reply) => {
        refuseOtherThanConsole(request);
        await countCall(byAddress, clientNetwork(request.clientAddress), reply);
      },
      config: { errors: ['invalid_credentials', 'rate_limited'], isConsoleOnly: true },
      schema: {
        operationId: 'choosePassword',
        summary: 'Choose a password with the link of an invitation or a reset',
        description:
          'Sets the password of the person whom the link is for, and signs the person in with a session cookie, as `POST /v1/auth/session/` ' +
          'does. The link works once, within 3 days. A link that was used, replaced by a newer one or has expired gets 401, and so does the ' +
          'link of a disabled person.\n\n' +
          `Calls are limited to ${CALLS_PER_ADDRESS} a minute for each client address (for IPv6, each /64 network), and to ` +
          `${CALLS_PER_LINK} a minute for each link.`,
        tags: ['Sign-in'],
        body: LinkPassword,
        response: { 200: Me },
      },
    },
    async (request, reply) => {
      const { token, new_password: password } = request.body;
      const link = links.read(token);
      await countCall(byLink, link.hash.toString('base64'), reply);
      const { tenantId, personId, generation } = await links.setPassword(link, password);
      const holder = { kind: 'person', id: personId } as const;
      const signIn = { tenantId, holder, generation, lifetime: LIFETIMES.password };
      return await meOf(await sessions.startFor(request, reply, signIn), service);
    },
  );
}
