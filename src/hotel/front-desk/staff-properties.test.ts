import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openHotel } from '#test/support/hotel.ts';
import { useHotel } from '#test/support/shared-service.ts';
import { sampleHotel } from '#test/support/tenants.ts';

const { service, hotel } = await useHotel();

const list = (query = '', headers = hotel.staff) => service.call('GET', `/v1/staff/properties/${query}`, { headers });

describe('GET /v1/staff/properties/', () => {
  it('200: the staff list shows each property, its room types and its active plans with exactly the documented fields', async () => {
    const { status, body } = await list();
    assert.equal(status, 200);
    const [harbour, lagoon, ...rest] = body;
    assert.deepEqual(rest, []);
    const { room_types, ...property } = harbour;
    assert.deepEqual(property, {
      id: property.id,
      name: 'Harbour House',
      address: '1 Quay',
      city: 'Porto',
      country_code: 'PT',
      timezone: 'Europe/Lisbon',
      check_in_time: '15:00',
      check_out_time: '11:00',
    });
    assert.deepEqual(room_types[0], {
      id: hotel.roomTypes['Double'],
      name: 'Double',
      description: 'with a view',
      max_occupancy: 2,
      base_price: '90.00',
      physical_capacity: 3,
      amenities: ['wifi'],
      images: ['https://images.example.com/double.jpg'],
      rate_plans: [
        {
          id: hotel.plans['Double/Flexible'],
          name: 'Flexible',
          base_price: '100.00',
          is_refundable: true,
          min_nights: 1,
        },
        { id: hotel.plans['Double/Saver'], name: 'Saver', base_price: '80.00', is_refundable: false, min_nights: 2 },
      ],
    });
    assert.deepEqual(
      room_types.map((roomType: { name: string; physical_capacity: number }) => [
        roomType.name,
        roomType.physical_capacity,
      ]),
      [
        ['Double', 3],
        ['Suite', 1],
        ['Bunk', 10],
        ['Floor', 2],
      ],
    );
    assert.equal(lagoon.timezone, 'Pacific/Kiritimati');
    assert.deepEqual((await list('', hotel.owner)).body, body);
  });

  it('200: the staff list shows only the active properties of its own tenant', async () => {
    const own = await openHotel(service);
    const properties = sampleHotel().slice(1);
    await service.apply({ ...own.document, properties });
    const { status, body } = await list('', own.staff);
    assert.equal(status, 200);
    assert.deepEqual(
      body.map((property: { name: string }) => property.name),
      ['Lagoon Lodge'],
    );
  });
});
