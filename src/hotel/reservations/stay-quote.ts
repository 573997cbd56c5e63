import Type from 'typebox';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { MONEY_PATTERN } from '#platform/lib/money.ts';
import { type Quote, roundedQuote } from '../rates/rates.ts';
import { AvailabilityQuery, Guests } from './schema.ts';

const money = (description: string) => Type.String({ [DOCUMENTED]: { pattern: MONEY_PATTERN }, description });

/** Query of `GET quote` (decision 40): the fields of a booking that determine its price. */
export const StayQuoteQuery = Type.Object({
  ...AvailabilityQuery.properties,
  check_in: Type.String({
    ...AvailabilityQuery.properties.check_in,
    description: 'The day of arrival. It must not be before today in the time zone of the property.',
  }),
  guests: Type.Optional(Type.Integer({ ...Guests, examples: [2] })),
});
export type StayQuoteQuery = Type.Static<typeof StayQuoteQuery>;

const QuotedNight = Type.Object(
  {
    date: Type.String({ format: 'date', description: 'The day on which the night begins.' }),
    price: money('The price of the night.'),
  },
  { title: 'QuotedNight', description: 'The price of one night of a stay.' },
);

/** Price of a stay before it is booked (decision 40). */
export const StayQuote = Type.Object(
  {
    room_type_id: Type.String({ format: 'uuid', description: 'The room type of the query.' }),
    check_in: Type.String({ format: 'date', description: 'The day of arrival.' }),
    check_out: Type.String({ format: 'date', description: 'The day of departure.' }),
    guests: Type.Integer({ description: 'The number of guests.' }),
    rate_plan: Type.Union(
      [
        Type.Object({
          id: Type.String({ format: 'uuid', description: 'The id of the rate plan.' }),
          name: Type.String({ description: 'The name of the rate plan.' }),
        }),
        Type.Null(),
      ],
      {
        description:
          'The rate plan that a booking gets. Null if the room type has no active rate plan, so that its own `base_price` applies.',
      },
    ),
    nights: Type.Array(QuotedNight, {
      description: 'The price of each night, from `check_in` to the night before `check_out`.',
    }),
    total_amount: money('The price of the whole stay, which is the sum of its nights.'),
    currency: Type.String({ description: 'The currency of the amounts, as three letters of ISO 4217.' }),
  },
  {
    title: 'ReservationQuote',
    description: 'The price of a stay, as a booking would charge it now.',
    examples: [
      {
        room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
        check_in: '2030-05-01',
        check_out: '2030-05-04',
        guests: 2,
        rate_plan: { id: '01a19b53-7418-7e7b-9678-4cd815b26365', name: 'Non-refundable' },
        nights: [
          { date: '2030-05-01', price: '84.48' },
          { date: '2030-05-02', price: '84.48' },
          { date: '2030-05-03', price: '84.48' },
        ],
        total_amount: '253.44',
        currency: 'EUR',
      },
    ],
  },
);
export type StayQuote = Type.Static<typeof StayQuote>;

/** Returns the price of a stay as responses of the third-party API show it. */
export function stayQuoteShape(roomTypeId: string, stay: StayQuoteQuery, quote: Quote, currency: string): StayQuote {
  const { planId, planName, nights, total } = roundedQuote(quote, currency);
  return {
    room_type_id: roomTypeId,
    check_in: stay.check_in,
    check_out: stay.check_out,
    guests: stay.guests ?? 1,
    rate_plan: planId === null || planName === null ? null : { id: planId, name: planName },
    nights,
    total_amount: total,
    currency,
  };
}
