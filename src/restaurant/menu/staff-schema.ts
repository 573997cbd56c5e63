import Type from 'typebox';
import { boolean, text } from '#platform/lib/fields.ts';

export const MenuQuery = Type.Object({
  dry_run: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'True makes all checks and returns what would change, but changes nothing.',
      examples: [true],
    }),
  ),
});

const Sku = text('The `sku` of the dish.');

export const MenuComparison = Type.Object(
  {
    added: Type.Array(Sku, { description: 'The dishes that the tenant does not have yet.' }),
    changed: Type.Array(
      Type.Object({
        sku: Sku,
        fields: Type.Array(Type.String(), {
          description: 'The names of the fields that get another value. A new place in the menu is not listed.',
        }),
      }),
      { description: 'The dishes of the document that the tenant has already, and that get other values.' },
    ),
    taken_off: Type.Array(Sku, {
      description:
        'The dishes that leave the menu: the document does not have them, or sets their `is_active` to false. In the second case, they ' +
        'are also in `changed`.',
    }),
  },
  {
    title: 'MenuComparison',
    description:
      'The dishes that the document would change. Changes of kitchens, categories, sub-menus and menu sets are not listed.',
    examples: [
      {
        added: ['STARTERS-SOUP'],
        changed: [{ sku: 'STARTERS-PAPADOM', fields: ['price', 'description'] }],
        taken_off: ['TIMELESS-CLASSICS-KORMA'],
      },
    ],
  },
);
export type MenuComparison = Type.Static<typeof MenuComparison>;

const MAX_SKUS = 500;

export const AvailabilityChange = Type.Object(
  {
    skus: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: MAX_SKUS,
      description: 'The `sku` of each dish. A dish that is named several times counts once.',
    }),
    is_active: boolean('False takes the dishes off the menu, and true puts them back.'),
  },
  {
    title: 'AvailabilityChange',
    description: 'Dishes that can or cannot be ordered from now on.',
    examples: [{ skus: ['STARTERS-PAPADOM', 'TIMELESS-CLASSICS-KORMA'], is_active: false }],
  },
);
export type AvailabilityChange = Type.Static<typeof AvailabilityChange>;

export const DishAvailability = Type.Object(
  { sku: Sku, is_active: boolean('True if the dish can be ordered.') },
  {
    title: 'DishAvailability',
    description: 'A dish, and if it can be ordered.',
    examples: [{ sku: 'STARTERS-PAPADOM', is_active: false }],
  },
);
export type DishAvailability = Type.Static<typeof DishAvailability>;
