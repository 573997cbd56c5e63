import { randomBytes } from 'node:crypto';
import type { TenantDocument } from '../../src/tenant-document/schema.ts';

export const OWNER_PASSWORD = 'an owner of the house';
export const STAFF_PASSWORD = 'one of the staff here';

/** A small menu with one of everything that matters: variants, add-ons, tax, an inactive dish and add-on. */
export function sampleMenu(): NonNullable<TenantDocument['menu']> {
  return {
    kitchens: [{ name: 'Main kitchen', description: 'downstairs' }],
    categories: [{ name: 'Pizza' }, { name: 'Drinks', ticket_type: 'bar' }],
    sub_menus: [{ name: 'From the oven' }],
    menu_sets: [{ name: 'All day', service: 'all_day', status: 'active', sub_menus: ['From the oven'] }],
    dishes: [
      {
        sku: 'PIZZA-1',
        name: 'Margherita',
        description: 'tomato, mozzarella',
        dish_type: 'veg',
        price: '10.00',
        is_taxable: true,
        extra_tax_percentage: '7.50',
        category: 'Pizza',
        sub_menu: 'From the oven',
        kitchen: 'Main kitchen',
        menu_set: 'All day',
        price_variants: [{ name: 'Large', price: '13.00' }],
        addons: [
          { name: 'Extra cheese', price: '1.50', dish_type: 'veg' },
          { name: 'Truffle', price: '9.00', is_active: false },
        ],
        ingredients: ['flour', 'tomato'],
      },
      {
        sku: 'WATER',
        name: 'Water',
        price: '2.50',
        is_taxable: false,
        extra_tax_percentage: '19.00',
        category: 'Drinks',
      },
      { sku: 'OFF', name: 'Not tonight', price: '5.00', is_active: false, category: 'Pizza' },
    ],
  };
}

/** A whole tenant with an owner and a member of the staff, under names nobody else has. */
export function sampleTenant(changes: Partial<TenantDocument> = {}): TenantDocument {
  const slug = changes.slug ?? `house-${randomBytes(4).toString('hex')}`;
  return {
    slug,
    name: 'Harbour House',
    currency: 'EUR',
    timezone: 'Europe/Lisbon',
    features: ['restaurant'],
    users: [
      { email: `owner@${slug}.example`, password: OWNER_PASSWORD, role: 'owner' },
      { email: `staff@${slug}.example`, password: STAFF_PASSWORD, role: 'staff' },
    ],
    menu: sampleMenu(),
    ...changes,
  };
}
