import Type from 'typebox';
import { text, textUpTo, time, timeOrNull, uuid } from '#platform/lib/fields.ts';
import { Areas } from '../tenants/tenants.ts';

const ID = '01a1fa30-5c18-7a40-9c0e-6d1f2b3a4c5d';
const EXAMPLE = { id: ID, label: 'Kitchen, left of the pass', areas: ['orders' as const] };

const Id = uuid('The id of the display.');
const Label = textUpTo(100, 'The label of the display. Lists of changes show it as the name of the display.', {
  minLength: 1,
});

export const Display = Type.Object(
  {
    id: Id,
    label: Label,
    areas: Areas,
    created_at: time('The time at which the owner added the display.'),
    last_used_at: timeOrNull(
      'The time of the last call of the display, up to a minute late. Null if the display was not paired yet.',
    ),
  },
  {
    title: 'Display',
    description: 'A screen that acts for the tenant without a person.',
    examples: [{ ...EXAMPLE, created_at: '2026-11-20T09:00:03.551Z', last_used_at: '2026-11-20T18:12:31.870Z' }],
  },
);
export type Display = Type.Static<typeof Display>;

export const DisplayCreate = Type.Object(
  { label: Label, areas: Areas },
  {
    title: 'DisplayCreate',
    description: 'The label and the areas of the new display.',
    examples: [{ label: EXAMPLE.label, areas: EXAMPLE.areas }],
  },
);
export type DisplayCreate = Type.Static<typeof DisplayCreate>;

export const CreatedDisplay = Type.Object(
  {
    id: Id,
    label: Label,
    areas: Areas,
    pairing_code: text('Eight letters to type on the display. No other response shows them.'),
    expires_at: time('The time at which the pairing code ends: after 10 minutes.'),
  },
  {
    title: 'CreatedDisplay',
    description: 'The new display, with its pairing code.',
    examples: [{ ...EXAMPLE, pairing_code: 'KXWTBRMD', expires_at: '2026-11-20T18:22:40.120Z' }],
  },
);
export type CreatedDisplay = Type.Static<typeof CreatedDisplay>;

export const DisplayPath = Type.Object({ id: text('The id of the display.', ID) });

export const DisplayPairing = Type.Object(
  {
    pairing_code: textUpTo(40, 'The pairing code. Lower case, spaces and hyphens make no difference.', {
      minLength: 1,
    }),
  },
  { title: 'DisplayPairing', description: 'The code of the display.', examples: [{ pairing_code: 'KXWTBRMD' }] },
);
