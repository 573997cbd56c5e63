import Type from 'typebox';

const count = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 50, default: 0, description }));

export const TrafficRequest = Type.Object(
  { orders: count('The number of orders that guests place.'), stays: count('The number of stays that guests book.') },
  { title: 'TrafficRequest', description: 'The guests to simulate.', examples: [{ orders: 12, stays: 3 }] },
);

export const TrafficAnswer = Type.Object(
  {
    orders: Type.Integer({ description: 'The number of guests who try to order.' }),
    stays: Type.Integer({ description: 'The number of guests who try to book.' }),
    until: Type.String({ format: 'date-time', description: 'The time by which the last of them has come.' }),
  },
  {
    title: 'TrafficAnswer',
    description: 'The guests who come within a minute.',
    examples: [{ orders: 12, stays: 3, until: '2026-11-20T18:13:40.120Z' }],
  },
);
