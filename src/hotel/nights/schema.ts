import Type from 'typebox';
import { KeysetQuery } from '#platform/http/keyset-page.ts';
import { date, integer, uuid } from '#platform/lib/fields.ts';

export const OversoldQuery = Type.Object({
  ...KeysetQuery.properties,
  from: Type.Optional(
    date(
      'The first night of the list. Without it, the list begins with today in the time zone of the tenant.',
      '2030-05-01',
    ),
  ),
});

export const OversoldNight = Type.Object(
  {
    room_type_id: uuid('The room type.'),
    date: date('The day on which the night begins.'),
    capacity: integer('The number of rooms of the room type.'),
    held: integer('The number of rooms that reservations hold. It is above `capacity`.'),
  },
  {
    title: 'OversoldNight',
    description: 'A night on which more rooms are held than the room type has.',
    examples: [{ room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85', date: '2030-05-02', capacity: 14, held: 15 }],
  },
);
export type OversoldNight = Type.Static<typeof OversoldNight>;
