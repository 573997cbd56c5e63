import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dumpRows } from '#test/support/restaurant.ts';
import { useService } from '#test/support/shared-service.ts';
import { sampleMenu, sampleTenant } from '#test/support/tenants.ts';
import { OperatorError } from '#platform/errors.ts';

const service = await useService();

/** Applies an invalid document, checks that it changed no row, and returns the faults that the error message lists. */
async function faultsOf(document: unknown): Promise<string[]> {
  const tables = ['tenant', 'app_user', 'sign_in', 'menu', 'dish'];
  const rows = await dumpRows(service, ...tables);
  const error: unknown = await service.apply(document).catch((caught: unknown) => caught);
  assert.ok(error instanceof OperatorError, String(error));
  assert.deepEqual(await dumpRows(service, ...tables), rows);
  const [first, ...faults] = error.message.split('\n').map((line) => line.trim());
  assert.equal(first, 'The tenant document is not valid. Nothing was changed.');
  return faults.sort();
}

const REMEDY =
  'Name one of them, or a new user, with the role "owner". Or leave "users" out, so that all users stay as they are';
const USER = { email: 'someone@example.com', password: 'twelve letters', role: 'owner' };

/** Returns a changed sample document, with one unknown field in an object of each kind. Each object has another field. */
function misspelled() {
  const { menu, users, ...document } = sampleTenant();
  const [dish] = menu?.dishes ?? [];
  return {
    ...document,
    currancy: 'EUR',
    users: users?.map((user) => ({ ...user, area: [] })),
    menu: {
      ...menu,
      kitchens: [{ name: 'K', descripton: '' }],
      categories: [{ name: 'Pizza', ticketType: null }],
      sub_menus: [{ name: 'From the oven', active: true }],
      menu_sets: [{ name: 'M', service_time: 'dinner' }],
      dish: [],
      dishes: [
        {
          ...dish,
          kitchen: 'K',
          menu_set: 'M',
          is_taxible: true,
          price_variants: [{ name: 'V', prize: '1.00', price: '1.00' }],
          addons: [{ name: 'A', price: '1.00', vegan: true }],
        },
      ],
    },
    properties: [
      {
        name: 'P',
        country_code: 'PT',
        timezone: 'Europe/Lisbon',
        PostCode: '1',
        room_types: [
          {
            name: 'Double',
            max_occupancy: 2,
            physical_capacity: 1,
            min_nights: 2,
            rate_plans: [{ name: 'Flexible', base_price: '1.00', min_nigths: 2 }],
          },
        ],
      },
    ],
  };
}

describe('invalid tenant document', () => {
  it('a document with unknown fields is refused at every depth, and the message suggests the nearest known name', async () => {
    const fields = (name: string) => `is not a known field (did you mean ${name}?)`;
    const users = sampleTenant().users ?? [];
    assert.deepEqual(
      await faultsOf(misspelled()),
      [
        `currancy: ${fields('currency')}`,
        ...users.map((_, index) => `users.${index}.area: ${fields('areas')}`),
        `menu.kitchens.0.descripton: ${fields('description')}`,
        `menu.categories.0.ticketType: ${fields('ticket_type')}`,
        'menu.sub_menus.0.active: is not a known field',
        'menu.menu_sets.0.service_time: is not a known field',
        'menu.dish: is not a known field',
        `menu.dishes.0.is_taxible: ${fields('is_taxable')}`,
        `menu.dishes.0.price_variants.0.prize: ${fields('price')}`,
        'menu.dishes.0.addons.0.vegan: is not a known field',
        'properties.0.PostCode: is not a known field',
        'properties.0.room_types.0.min_nights: is not a known field',
        `properties.0.room_types.0.rate_plans.0.min_nigths: ${fields('min_nights')}`,
      ].sort(),
    );
  });

  for (const [changes, ...faults] of [
    [{ slug: undefined }, 'slug: is required'],
    [{ name: '' }, 'name: must not be empty'],
    [{ currency: 'euro' }, 'currency: must be a currency code of three capital letters, such as "EUR"'],
    [{ timezone: 'Europe/Atlantis' }, 'timezone: must be the name of a time zone such as "Europe/Lisbon"'],
    [{ timezone: '+01:00' }, 'timezone: must be the name of a time zone such as "Europe/Lisbon"'],
    [{ features: ['spa'] }, 'features.0: must be one of "restaurant", "hotel"'],
    [{ features: 'hotel' }, 'features: must be a list'],
    [{ users: [{ ...USER, email: 'nobody' }] }, 'users.0.email: must be an e-mail address'],
    [{ users: [{ ...USER, password: 'short' }] }, 'users.0.password: must have at least 12 characters'],
    [{ users: [{ ...USER, password: null }] }, 'users.0.password: must be a text, or leave the field out'],
    [
      { users: [USER, { email: 'new@example.com', role: 'staff' }] },
      'users.1.password: is required, because this user is new. Give a password of at least 12 characters',
    ],
    [{ users: [{ ...USER, role: 'cook' }] }, 'users.0.role: must be one of "owner", "staff"'],
    [{ users: [USER, { ...USER, email: 'Someone@Example.com' }] }, 'users.1.email: is given twice'],
    [{ menu: {} }, 'menu.dishes: is required'],
    [
      { menu: { dishes: [{ sku: 'A', name: 'A', price: 1, category: 'B' }] } },
      'menu.dishes.0.category: "B" is not in categories',
      'menu.dishes.0.price: must be a text',
    ],
    [{ name: 'a\0b' }, 'name: contains U+0000'],
    [
      { menu: { dishes: [], kitchens: [{ name: 'K\ud800' }] } },
      'menu.kitchens.0.name: contains half of a surrogate pair',
    ],
    [
      { users: [{ ...USER, email: 'a\0@example.com' }] },
      'users.0.email: contains U+0000',
      'users.0.email: must be an e-mail address',
    ],
  ] as [object, ...string[]][]) {
    it(`an invalid tenant document is refused with the message: ${faults.join(', ')}`, async () => {
      assert.deepEqual(await faultsOf({ ...sampleTenant(), ...changes }), faults);
    });
  }

  for (const slug of ['', 'A', 'a b', '-a', 'a-', 'ä', 'a'.repeat(65), 5, null, 'a\0']) {
    it(`a tenant document with the slug ${JSON.stringify(slug)} is refused, and the message reports only faults of the slug`, async () => {
      const faults = await faultsOf({ ...sampleTenant(), slug });
      assert.ok(
        faults.every((fault) => fault.startsWith('slug: ')),
        faults.join(),
      );
    });
  }

  for (const value of [null, [], 'text', 5]) {
    it(`a tenant document that is ${JSON.stringify(value)} is refused, because it is not an object`, async () => {
      assert.deepEqual(await faultsOf(value), ['document: must be an object']);
    });
  }

  it('an invalid document for an existing tenant is refused, and one message lists all its faults of every kind', async () => {
    const other = sampleTenant();
    const document = sampleTenant();
    for (const good of [other, document]) {
      await service.apply(good);
    }
    const menu = sampleMenu();
    const [pizza, water] = menu.dishes;
    assert.ok(pizza && water);
    const dishes = [pizza, { ...water, price: '1e5', kitchen: 'Roof' }, { ...pizza, name: '', category: 'Soup' }, 7];
    const takenEmail = other.users?.[0]?.email;
    const users = [
      { ...USER, email: takenEmail, role: 'staff' },
      { ...USER, role: 'staff' },
      { ...USER, password: 'short', role: 'staff' },
    ];
    const bad = { ...document, currency: 5, timezone: 'Mars', users, menu: { ...menu, dishes } };
    assert.deepEqual(await faultsOf(bad), [
      'currency: must be a text',
      'menu.dishes.1.kitchen: "Roof" is not in kitchens',
      'menu.dishes.1.price: must be a decimal text such as "12.50", with at most two decimals',
      'menu.dishes.2.category: "Soup" is not in categories',
      'menu.dishes.2.name: must not be empty',
      'menu.dishes.2.sku: "PIZZA-1" is given twice',
      'menu.dishes.3: must be an object',
      'timezone: must be the name of a time zone such as "Europe/Lisbon"',
      'users.0.email: belongs to a user of another tenant',
      'users.2.email: is given twice',
      'users.2.password: must have at least 12 characters',
      `users: would leave the tenant without an active owner (active owners now: owner@${document.slug}.example). ${REMEDY}`,
    ]);
  });

  it('a document with the e-mail of a disabled user of another tenant is refused, even if the e-mail is in upper case', async () => {
    const other = sampleTenant();
    const email = other.users?.[1]?.email ?? '';
    await service.apply(other);
    await service.apply({ ...other, users: other.users?.slice(0, 1) });
    const users = [{ ...USER, email: email.toUpperCase() }];
    assert.deepEqual(await faultsOf(sampleTenant({ users: users as never[] })), [
      'users.0.email: belongs to a user of another tenant',
    ]);
  });

  it('if three concurrent documents of three tenants name a user with the same new e-mail address, one document is applied and two are refused', async () => {
    const users = [{ ...USER, email: 'contended@example.com' }] as never[];
    const documents = [sampleTenant({ users }), sampleTenant({ users }), sampleTenant({ users })];
    const outcomes = await Promise.allSettled(documents.map((document) => service.apply(document)));
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason);
    assert.equal(refusals.length, 2);
    for (const reason of refusals) {
      assert.match(String(reason), /users\.0\.email: belongs to a user of another tenant/);
    }
  });
});
