import Type from 'typebox';
import { KeysetQuery } from '#platform/http/keyset-page.ts';

export const OversoldQuery = Type.Object({
  ...KeysetQuery.properties,
  from: Type.Optional(
    Type.String({
      format: 'date',
      description:
        'The first night of the list. Without it, the list begins with today in the time zone of the tenant.',
      examples: ['2030-05-01'],
    }),
  ),
});

export const OversoldNight = Type.Object(
  {
    room_type_id: Type.String({ format: 'uuid', description: 'The room type.' }),
    date: Type.String({ format: 'date', description: 'The day on which the night begins.' }),
    capacity: Type.Integer({ description: 'The number of rooms of the room type.' }),
    held: Type.Integer({ description: 'The number of rooms that reservations hold. It is above `capacity`.' }),
  },
  {
    title: 'OversoldNight',
    description: 'A night on which more rooms are held than the room type has.',
    examples: [{ room_type_id: '01a19b53-7418-72ce-86a9-e7f8c3e6bf85', date: '2030-05-02', capacity: 14, held: 15 }],
  },
);
