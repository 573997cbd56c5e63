import Type from 'typebox';
import type { App } from '#platform/http/app.ts';
import type { Guard } from '#platform/http/guard.ts';
import { CreatedDisplay, Display, DisplayCreate, DisplayPath } from './display-schema.ts';
import { type Displays, displayShape } from './displays.ts';

interface Dependencies {
  displays: Displays;
  ownerGuard: Guard;
}

const PATH = '/v1/staff/displays/';
const SHARED = { tags: ['People'] };
const NOT_FOUND = { status: 404, code: 'error', message: 'No such display.' } as const;

export function displayStaffRoutes(app: App, { displays, ownerGuard }: Dependencies): void {
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
    async (request) => (await displays.list(request.staff.tenant.id)).map(displayShape),
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
