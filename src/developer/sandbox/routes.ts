import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { notFound } from '#platform/errors.ts';
import { type Guests, SPREAD_MS } from './guests.ts';
import { TrafficAnswer, TrafficRequest } from './schema.ts';

interface Dependencies {
  /** Null if no simulation runs. */
  guests: Guests | null;
  isSandbox: (tenantId: number) => Promise<boolean>;
  ownerGuard: Guard;
}

export function trafficRoutes(app: App, { guests, isSandbox, ownerGuard }: Dependencies): void {
  app.post(
    '/v1/staff/sandbox/traffic/',
    {
      onRequest: ownerGuard,
      config: { errors: [{ status: 404, code: 'error', message: 'No such simulation.' }] },
      schema: {
        operationId: 'makeBusy',
        summary: 'Send simulated guests to the demo',
        description:
          'Lets simulated guests place orders and book stays within the next minute. They use the credential `Demo guests`, and the service ' +
          'treats them as calls of a partner, so a guest may be refused, for example if no room is left. A repeated call takes the place of ' +
          'the guests who have not come yet. Only the owner of the demo tenant may call this operation, and only while `serve --demo` runs. ' +
          'Otherwise the response is 404.',
        tags: ['Sandbox'],
        body: TrafficRequest,
        response: { 200: TrafficAnswer },
      },
    },
    async ({ staff: { tenant }, body: { orders = 0, stays = 0 } }) => {
      if (guests === null || !(await isSandbox(tenant.id))) {
        throw notFound('simulation');
      }
      guests.send(tenant, orders, stays);
      return { orders, stays, until: new Date(Date.now() + SPREAD_MS).toISOString() };
    },
  );
}
