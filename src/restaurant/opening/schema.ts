import Type from 'typebox';
import { TIME_OF_DAY } from '#platform/lib/dates.ts';
import { boolean, textOrNull, textUpTo, time, timeOrNull } from '#platform/lib/fields.ts';

/** Largest number of opening times in a week: seven for each day. */
const MAX_TIMES = 49;

const TimeOfDay = (description: string) =>
  Type.String({ ...TIME_OF_DAY, description: `${description} \`HH:MM\` in 24 hours.` });

const OpeningTime = Type.Object(
  {
    weekday: Type.Integer({
      minimum: 1,
      maximum: 7,
      description: 'The day on which this time begins: 1 for Monday to 7 for Sunday.',
    }),
    opens: TimeOfDay('The local time at which the restaurant opens.'),
    closes: TimeOfDay(
      'The local time at which the restaurant closes. If it is not after `opens`, the restaurant closes on the next day.',
    ),
  },
  { title: 'OpeningTime', description: 'A time of each week in which the restaurant is open.' },
);

export const OpeningHoursDocument = Type.Object(
  {
    hours: Type.Array(OpeningTime, {
      maxItems: MAX_TIMES,
      description:
        'The opening times of a week, in the time zone of the tenant. The times may overlap. If the list is empty, the restaurant ' +
        'is always open.',
    }),
  },
  {
    title: 'OpeningHours',
    description: 'The opening hours of the restaurant.',
    examples: [
      {
        hours: [
          { weekday: 5, opens: '12:00', closes: '15:00' },
          { weekday: 5, opens: '18:30', closes: '01:00' },
          { weekday: 6, opens: '18:30', closes: '01:00' },
        ],
      },
    ],
  },
);
export type OpeningHoursDocument = Type.Static<typeof OpeningHoursDocument>;

export const PauseStart = Type.Object(
  {
    until: Type.Optional(
      time('The end of the pause, in the future. If it is missing, the pause lasts until staff end it.'),
    ),
    reason: Type.Optional(textUpTo(200, 'The reason, for the people of the tenant. Partners never see it.')),
  },
  {
    title: 'PauseStart',
    description: 'A pause in which the restaurant takes no new orders.',
    examples: [{ until: '2030-05-01T19:30:00Z', reason: 'The oven is broken.' }],
  },
);
export type PauseStart = Type.Static<typeof PauseStart>;

export const PauseState = Type.Object(
  {
    is_open: boolean('True if the restaurant takes orders now. False during a pause, and outside the opening hours.'),
    until: timeOrNull('The end of the pause. Null if there is no pause, or if the pause lasts until staff end it.'),
    reason: textOrNull('The reason of the pause. Null if there is no pause, or if staff gave no reason.'),
    reopens_at: timeOrNull(
      'The time at which the restaurant opens: the first opening time that is not before the end of the pause. Null if the ' +
        'restaurant is open, or if the pause lasts until staff end it.',
    ),
  },
  {
    title: 'PauseState',
    description: 'The state of the restaurant now: open or closed, with its pause.',
    examples: [
      {
        is_open: false,
        until: '2030-05-01T19:30:00.000Z',
        reason: 'The oven is broken.',
        reopens_at: '2030-05-01T19:30:00.000Z',
      },
      { is_open: true, until: null, reason: null, reopens_at: null },
    ],
  },
);
export type PauseState = Type.Static<typeof PauseState>;
