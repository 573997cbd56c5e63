import Type from 'typebox';
import { TIME_OF_DAY } from '#platform/lib/dates.ts';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { MONEY } from '#platform/lib/money.ts';
import { matching } from '#platform/lib/patterns.ts';
import { boolean, integer, integerFrom, orNull, priceOrNull, text, textUpTo, uuid } from '#platform/lib/fields.ts';

const Money = Type.String(MONEY);
const money = (description: string) => Type.String({ ...MONEY, description });
const time = (description: string) => Type.String({ ...TIME_OF_DAY, description });

const Capacity = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description: 'The number of rooms of this type in the building.',
});

// These schemas describe the `properties` part of the tenant document.

const RatePlanDocument = Type.Object({
  name: textUpTo(255, 'The name of the rate plan, unique within the room type.', { minLength: 1 }),
  base_price: money('The price of one night, unless staff set another price for the night.'),
  is_refundable: Type.Optional(boolean('True if the price of a cancelled stay is refunded.')),
  min_nights: Type.Optional(integerFrom(1, 'The smallest number of nights of a stay at this price.')),
  is_active: Type.Optional(boolean('False if no new stay can be booked at this price.')),
});
export type RatePlanDocument = Type.Static<typeof RatePlanDocument>;

const RoomTypeDocument = Type.Object({
  name: textUpTo(255, 'The name of the room type, unique within the property.', { minLength: 1 }),
  description: Type.Optional(text('A text about the room type for guests.')),
  max_occupancy: integerFrom(1, 'The largest number of guests in one room.'),
  base_price: Type.Optional(
    orNull(Money, 'The price of one night if the room type has no active rate plan. Null means that no price is set.'),
  ),
  physical_capacity: Capacity,
  amenities: Type.Optional(Type.Array(Type.String(), { description: 'The names of the amenities in the room.' })),
  images: Type.Optional(
    Type.Array(Type.String({ format: 'uri', maxLength: 2048 }), {
      description: 'The http or https URLs of pictures of the room.',
    }),
  ),
  rate_plans: Type.Optional(
    Type.Array(RatePlanDocument, {
      description: 'The prices of the room type. A rate plan that the document no longer names becomes inactive.',
    }),
  ),
});
export type RoomTypeDocument = Type.Static<typeof RoomTypeDocument>;

export const PropertyDocument = Type.Object({
  name: textUpTo(255, 'The name of the property, unique within the tenant.', { minLength: 1 }),
  address: Type.Optional(text('The street and number of the property.')),
  city: Type.Optional(text('The city of the property.')),
  country_code: Type.String({
    ...matching('^[A-Z]{2}$', 'must be a country code of two capital letters, such as "PT"'),
    description: 'The country of the property, as two letters of ISO 3166.',
  }),
  timezone: Type.String({ minLength: 1, description: 'The IANA name of the time zone of the property.' }),
  check_in_time: Type.Optional(time('The time from which guests may check in, as HH:MM.')),
  check_out_time: Type.Optional(time('The time until which guests must check out, as HH:MM.')),
  room_types: Type.Optional(
    Type.Array(RoomTypeDocument, {
      description: 'The room types. A room type that the document no longer names becomes inactive.',
    }),
  ),
});
export type PropertyDocument = Type.Static<typeof PropertyDocument>;

/** Price of a room type in responses. */
export const RoomTypePrice = priceOrNull(
  'The price of one night if the room type has no active rate plan. Null means that no price is set.',
);

const Property = Type.Object(
  {
    id: uuid('The id of the property.'),
    name: text('The name of the property.'),
    city: text('The city of the property. It may be empty.'),
    country_code: text('The country of the property, as two letters of ISO 3166.'),
  },
  { title: 'Property', description: 'The hotel building that the rooms are in.' },
);

export const RoomType = Type.Object(
  {
    room_type_id: uuid('The id of the room type. Availability calls and reservations use it.'),
    name: text('The name of the room type, unique within the property.'),
    description: text('A text about the room type for guests. It may be empty.'),
    max_occupancy: integer('The largest number of guests in one room. A reservation for more guests is refused.'),
    base_price: orNull(
      Money,
      'The price of one night if the room type has no active rate plan. Null means that no price is set. If the room type has ' +
        'active rate plans, their nightly prices apply, and the reservation shows the total.',
    ),
    currency: text('The currency of the prices, as three letters of ISO 4217.'),
    property: Property,
    amenities: Type.Array(Type.String(), { description: 'The names of the amenities in the room.' }),
    images: Type.Array(Type.String({ [DOCUMENTED]: { format: 'uri' } }), { description: 'The URLs of the pictures.' }),
  },
  {
    title: 'RoomType',
    description: 'Rooms of one kind, which are sold under one name.',
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

export const RoomTypePath = Type.Object({
  id: text('The id of the room type. It may be inactive.', '01a19b53-7418-72ce-86a9-e7f8c3e6bf85'),
});

export const RoomTypeChange = Type.Object(
  { physical_capacity: Type.Optional(Capacity) },
  {
    minProperties: 1,
    title: 'RoomTypeChange',
    description: 'The fields to change, at least one.',
    examples: [{ physical_capacity: 13 }],
  },
);
export type RoomTypeChange = Type.Static<typeof RoomTypeChange>;

export const ChangedRoomType = Type.Object(
  {
    id: uuid('The id of the room type.'),
    name: text('The name of the room type, unique within the property.'),
    physical_capacity: integer('The number of rooms of this type in the building.'),
  },
  {
    title: 'ChangedRoomType',
    description: 'A room type after a change.',
    examples: [{ id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85', name: 'Double', physical_capacity: 13 }],
  },
);
export type ChangedRoomType = Type.Static<typeof ChangedRoomType>;
