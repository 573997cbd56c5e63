import Type from 'typebox';
import { text } from '#platform/lib/fields.ts';
import { TOPICS } from './topics.ts';

export const LiveChange = Type.Object(
  {
    topics: Type.Array(Type.Enum(TOPICS, { type: 'string' }), {
      description:
        'The kinds of data that have changed. You get a kind only if you have the area or the role after its name. `orders`: area ' +
        'orders. `reservations`: area hotel. `events` (events of partners): area deliveries. `menu`: area menu. `rooms`: area hotel ' +
        'or rates. `rates`: area hotel or rates. `credentials` (also channels and webhooks): owners. `people` (also displays and ended ' +
        'sessions): owners. `pause` (also opening hours): every caller. New kinds may be added.',
    }),
  },
  {
    title: 'LiveChange',
    description: 'A hint that data has changed. Read again the data that you show. The same hint may come twice.',
    examples: [{ topics: ['orders', 'events'] }],
  },
);
export type LiveChange = Type.Static<typeof LiveChange>;

export const LiveStream = text(
  'A stream that stays open. The data of `change` is a `LiveChange`. `resync` and `bye` have an empty object.',
  ': beat 1763841432003\n\nevent: resync\ndata: {}\n\nevent: change\ndata: {"topics":["orders"]}\n\n: beat 1763841442003\n\n',
);
