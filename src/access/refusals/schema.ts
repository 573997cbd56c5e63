import Type from 'typebox';
import { integer, text, time, uuid } from '#platform/lib/fields.ts';

export const RefusedCall = Type.Object(
  {
    id: uuid('The id of the refused call.'),
    at: time('The time of the refusal.'),
    method: text('The HTTP method of the call.'),
    path: text('The path of the operation, with the names of its parameters in place of their values.'),
    status: integer('The HTTP status of the response, from 400 to 499.'),
    code: text('The `code` of the response.'),
    message: text(
      'The `message` of the response. It is cut after 500 characters. If it contained a secret, the secret is left out.',
    ),
    request_id: text('The `X-Request-Id` of the response. The log has the same id.'),
  },
  {
    title: 'RefusedCall',
    description: 'A call with a valid secret that the service refused.',
    examples: [
      {
        id: '01a1fa40-2f10-7c1a-8b55-1d3e5f7a9b2c',
        at: '2026-11-20T18:37:52.912Z',
        method: 'POST',
        path: '/v1/third-party/orders/',
        status: 400,
        code: 'item_not_found',
        message: 'items.0.item_id: no dish on the menu has the sku "STARTERS-SOUP"',
        request_id: '8f6a5b0e-3f0c-4a55-9d0d-1f9f2f6f0b6e',
      },
    ],
  },
);
export type RefusedCall = Type.Static<typeof RefusedCall>;
