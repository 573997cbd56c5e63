import Type from 'typebox';
import { TOPICS } from './topics.ts';

const Ids = (description: string) => Type.Array(Type.String({ format: 'uuid' }), { description });

/** Data of the event `change`. */
export const LiveChange = Type.Object(
  {
    topics: Type.Array(Type.Enum([...TOPICS], { type: 'string' }), {
      description:
        'The kinds of data that have changed. You get a kind only if you have the area or the role after its name. `orders`: area ' +
        'orders. `reservations`: area hotel. `events` (events of partners): area deliveries. `menu`: area menu. `rooms`: area hotel ' +
        'or rates. `rates`: area hotel or rates. `credentials` (also channels and webhooks): owners. `people` (also displays and ended ' +
        'sessions): owners. `pause` (also opening hours): every caller. New kinds may be added.',
    }),
    order_ids: Ids('The ids of orders that are new or have changed. Empty if you lack the area orders.'),
    reservation_ids: Ids('The ids of reservations that are new or have changed. Empty if you lack the area hotel.'),
  },
  {
    title: 'LiveChange',
    description: 'A hint that data has changed. Read again the data that you show. The same hint may come twice.',
    examples: [
      { topics: ['orders', 'events'], order_ids: ['01a1f82f-2c5f-7b81-b37a-043a6f767e7c'], reservation_ids: [] },
    ],
  },
);
export type LiveChange = Type.Static<typeof LiveChange>;

export const LiveStream = Type.String({
  description:
    'A stream that stays open. The data of `change` is a `LiveChange`. `resync` and `bye` have an empty object.',
  examples: [
    [
      ': beat 1763841432003\nid: 1763841431804\n\n',
      'id: 1763841437512\nevent: change\n',
      'data: {"topics":["orders"],"order_ids":["01a1f82f-2c5f-7b81-b37a-043a6f767e7c"],"reservation_ids":[]}\n\n',
      ': beat 1763841442003\nid: 1763841441812\n\n',
    ].join(''),
  ],
});
