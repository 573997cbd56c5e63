import { AREAS } from '#access/tenants/tenants.ts';
import { fieldsOf } from '#platform/lib/unchecked.ts';
import { TenantDocument } from './schema.ts';

const COMMENT_WIDTH = 100;
const INDENT = 2;

const HEADER = `This document describes one tenant: a business with a restaurant, a hotel, or both.
Replace the values with your own. Then run "roomservice tenant apply FILE".
You may change the file and apply it again. It may contain comments, and a comma after a last entry.

The password of the owner is random, and no other file has it. Keep this file private. After you
have applied the file, you may remove the password from it. The owner then keeps this password.`;

/**
 * Returns a new tenant document as JSON with a comment for each field. The comments are the descriptions of the schema. The document is
 * valid as it is.
 * @param password password of its only user, the owner
 */
export function tenantTemplate(password: string): string {
  const header = HEADER.split('\n').map((line) => `// ${line}`.trimEnd());
  return `${[...header, ...render(TenantDocument, example(password), 0)].join('\n')}\n`;
}

function example(password: string): TenantDocument {
  return {
    slug: 'my-tenant',
    name: 'My Tenant',
    currency: 'EUR',
    timezone: 'Europe/Lisbon',
    features: ['restaurant', 'hotel'],
    users: [{ email: 'owner@my-tenant.example', password, role: 'owner', name: 'Ana Lima', areas: [...AREAS] }],
    menu: exampleMenu(),
    properties: [exampleProperty()],
  };
}

function exampleMenu(): NonNullable<TenantDocument['menu']> {
  return {
    kitchens: [{ name: 'Main kitchen', description: '' }],
    categories: [{ name: 'Pizza', description: '', image: null, ticket_type: null }],
    sub_menus: [{ name: 'From the oven', is_active: true }],
    menu_sets: [{ name: 'All day', service: 'all_day', status: 'active', sub_menus: ['From the oven'] }],
    dishes: [
      {
        sku: 'PIZZA-1',
        name: 'Margherita',
        description: 'Tomato, mozzarella and basil.',
        dish_type: 'veg',
        price: '10.00',
        is_active: true,
        is_taxable: true,
        extra_tax_percentage: '0.00',
        image: null,
        category: 'Pizza',
        sub_menu: 'From the oven',
        kitchen: 'Main kitchen',
        menu_set: 'All day',
        price_variants: [{ name: 'Large', price: '13.00' }],
        addons: [{ name: 'Extra cheese', price: '1.50', dish_type: 'veg', image: null, is_active: true }],
        ingredients: ['Flour', 'Tomato', 'Mozzarella', 'Basil'],
      },
    ],
  };
}

function exampleProperty(): NonNullable<TenantDocument['properties']>[number] {
  return {
    name: 'My Hotel',
    address: '1 Quay Street',
    city: 'Porto',
    country_code: 'PT',
    timezone: 'Europe/Lisbon',
    check_in_time: '15:00',
    check_out_time: '11:00',
    room_types: [
      {
        name: 'Double',
        description: '',
        max_occupancy: 2,
        base_price: '90.00',
        physical_capacity: 10,
        amenities: ['wifi'],
        images: [],
        rate_plans: [{ name: 'Flexible', base_price: '95.00', is_refundable: true, min_nights: 1, is_active: true }],
      },
    ],
  };
}

/** Returns the lines of a value as JSON. In an object, the comment of each field is before the lines of the field. */
function render(schema: unknown, value: unknown, depth: number): string[] {
  if (Array.isArray(value)) {
    const entries = value.map((entry) => render(fieldsOf(schema)['items'], entry, depth + 1));
    return entries.every(({ length }) => length === 1)
      ? [`[${entries.join(', ')}]`]
      : ['[', ...entries.flatMap((lines) => withComma(indented(lines))), ']'];
  }
  if (typeof value !== 'object' || value === null) {
    return [JSON.stringify(value)];
  }
  const fields = Object.entries(value).map(([name, field]) => renderField(schema, name, field, depth + 1));
  return ['{', ...fields.flatMap((lines) => withComma(indented(lines))), '}'];
}

function renderField(schema: unknown, name: string, value: unknown, depth: number): string[] {
  const { properties, required } = fieldsOf(schema);
  const ofField = fieldsOf(properties)[name];
  const isOptional = !Array.isArray(required) || !required.includes(name);
  const [first = '', ...rest] = render(ofField, value, depth);
  return [...comment(ofField, isOptional, depth), `${JSON.stringify(name)}: ${first}`, ...rest];
}

/** Returns the comment lines of a field: "Optional." if the field is optional, then its description, and then its possible values. */
function comment(schema: unknown, isOptional: boolean, depth: number): string[] {
  const { description, enum: values, items } = fieldsOf(schema);
  const choices = (values ?? fieldsOf(items)['enum']) as unknown[] | undefined;
  const text = [
    ...(isOptional ? ['Optional.'] : []),
    String(description).replaceAll('`', '"'),
    ...(choices === undefined
      ? []
      : [`Possible values: ${choices.map((choice) => JSON.stringify(choice)).join(', ')}.`]),
  ].join(' ');
  const width = COMMENT_WIDTH - depth * INDENT;
  return text.match(new RegExp(`\\S.{0,${width - 1}}(?= |$)`, 'g'))?.map((line) => `// ${line}`) ?? [];
}

function indented(lines: string[]): string[] {
  return lines.map((line) => ' '.repeat(INDENT) + line);
}

/** Adds a comma to the last line, even after the last entry, so that people can move and add entries without a change of other lines. */
function withComma(lines: string[]): string[] {
  return [...lines.slice(0, -1), `${lines.at(-1)},`];
}
