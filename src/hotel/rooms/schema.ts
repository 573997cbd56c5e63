import Type from 'typebox';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { MONEY_PATTERN } from '#platform/lib/money.ts';

const MAX_INTEGER = 2_147_483_647;
const Money = Type.String({ pattern: MONEY_PATTERN });
const Time = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description: 'HH:MM' });

// The `properties` part of the tenant document.

const RatePlanDocument = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  base_price: Money,
  is_refundable: Type.Optional(Type.Boolean()),
  min_nights: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_INTEGER })),
  is_active: Type.Optional(Type.Boolean()),
});
export type RatePlanDocument = Type.Static<typeof RatePlanDocument>;

const RoomTypeDocument = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.Optional(Type.String()),
  max_occupancy: Type.Integer({ minimum: 1, maximum: MAX_INTEGER }),
  base_price: Type.Optional(Type.Union([Money, Type.Null()])),
  physical_capacity: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  amenities: Type.Optional(Type.Array(Type.String())),
  images: Type.Optional(Type.Array(Type.String({ format: 'uri', maxLength: 2048 }))),
  rate_plans: Type.Optional(Type.Array(RatePlanDocument)),
});
export type RoomTypeDocument = Type.Static<typeof RoomTypeDocument>;

export const PropertyDocument = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  address: Type.Optional(Type.String()),
  city: Type.Optional(Type.String()),
  country_code: Type.String({ pattern: '^[A-Z]{2}$' }),
  timezone: Type.String({ minLength: 1 }),
  check_in_time: Type.Optional(Time),
  check_out_time: Type.Optional(Time),
  room_types: Type.Optional(Type.Array(RoomTypeDocument)),
});
export type PropertyDocument = Type.Static<typeof PropertyDocument>;

const text = (description: string) => Type.String({ description });

const Property = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The id of the property.' }),
    name: text('Its name.'),
    city: text('The city; may be empty.'),
    country_code: text('The country, two letters of ISO 3166.'),
  },
  { title: 'Property', description: 'The house that the rooms are in.' },
);

/** The room type as partners see it (decision 27). */
export const RoomType = Type.Object(
  {
    room_type_id: Type.String({ format: 'uuid', description: 'What it is asked for and booked by.' }),
    name: text('Its name, unique within the property.'),
    description: text('What a guest should know of it; may be empty.'),
    max_occupancy: Type.Integer({ description: 'How many guests it is for. More are refused.' }),
    base_price: Type.Union([Money, Type.Null()], {
      description:
        'What a night costs where the room type is sold under no rate plan. A stay under a plan costs what its nights cost there; ' +
        'the reservation tells. Null: no price is set.',
    }),
    currency: text('Three letters of ISO 4217.'),
    property: Property,
    amenities: Type.Array(Type.String(), { description: 'What is in the room, in words.' }),
    images: Type.Array(Type.String({ [DOCUMENTED]: { format: 'uri' } }), { description: 'URLs of pictures.' }),
  },
  {
    title: 'RoomType',
    description: 'Rooms that are sold as one.',
    examples: [
      {
        room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85',
        name: 'Double',
        description: 'A double bed and a small balcony.',
        max_occupancy: 2,
        base_price: '90.00',
        currency: 'EUR',
        property: {
          id: '01a19b53-7418-7fc9-9841-34ae56728784',
          name: 'Harbour House',
          city: 'Porto',
          country_code: 'PT',
        },
        amenities: ['wifi', 'balcony'],
        images: [],
      },
    ],
  },
);
export type RoomType = Type.Static<typeof RoomType>;
