import { randomBytes } from 'node:crypto';
import type { TenantDocument } from '#service/tenant-document/schema.ts';

export const OWNER_PASSWORD = 'an owner of the house';
export const STAFF_PASSWORD = 'one of the staff here';

/** Returns a small menu. It has dishes with variants, add-ons and tax, an inactive dish and an inactive add-on. */
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

/**
 * Returns two small properties in distant time zones (Lisbon and UTC+14). The room type Suite has only one room. The room types Bunk and
 * Floor have no rate plans, and the room type Floor has no price either. One rate plan is inactive, and one has a minimum of two nights.
 */
export function sampleHotel(): NonNullable<TenantDocument['properties']> {
  return [
    {
      name: 'Harbour House',
      address: '1 Quay',
      city: 'Porto',
      country_code: 'PT',
      timezone: 'Europe/Lisbon',
      check_in_time: '15:00',
      check_out_time: '11:00',
      room_types: [
        {
          name: 'Double',
          description: 'with a view',
          max_occupancy: 2,
          base_price: '90.00',
          physical_capacity: 3,
          amenities: ['wifi'],
          images: ['https://images.example.com/double.jpg'],
          rate_plans: [
            { name: 'Flexible', base_price: '100.00' },
            { name: 'Saver', base_price: '80.00', is_refundable: false, min_nights: 2 },
            { name: 'Closed for good', base_price: '1.00', is_active: false },
          ],
        },
        {
          name: 'Suite',
          max_occupancy: 4,
          base_price: null,
          physical_capacity: 1,
          rate_plans: [{ name: 'Suite rate', base_price: '250.50' }],
        },
        { name: 'Bunk', max_occupancy: 1, base_price: '25.00', physical_capacity: 10 },
        { name: 'Floor', max_occupancy: 1, base_price: null, physical_capacity: 2 },
      ],
    },
    {
      name: 'Lagoon Lodge',
      address: '2 Beach',
      city: 'London',
      country_code: 'KI',
      timezone: 'Pacific/Kiritimati',
      check_in_time: '14:00',
      check_out_time: '10:00',
      room_types: [
        {
          name: 'Double',
          max_occupancy: 2,
          base_price: '60.00',
          physical_capacity: 2,
          rate_plans: [{ name: 'Lagoon rate', base_price: '70.00' }],
        },
      ],
    },
  ];
}

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
