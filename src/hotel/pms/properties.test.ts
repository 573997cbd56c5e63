import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pmsHeaders } from '#test/support/hotel.ts';
import { hotelTenant, PMS } from '#test/support/pms.ts';
import { useService } from '#test/support/shared-service.ts';

const get = (path: string, headers = hotel.pms) => service.call('GET', `${PMS}${path}`, { headers });

const service = await useService();
const hotel = await hotelTenant(service);

describe('GET /v1/channel-manager/pms/properties/', () => {
  it('200: the PMS list has the properties in the order of the JSON file that describes the tenant, each with exactly five fields', async () => {
    const answer = await get('/properties/');
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body, [
      { id: hotel.id('Harbour House'), name: 'Harbour House', address: '1 Quay', city: 'Porto', country_code: 'PT' },
      { id: hotel.id('Lagoon Lodge'), name: 'Lagoon Lodge', address: '2 Beach', city: 'London', country_code: 'KI' },
    ]);
  });

  it('200: the PMS list of properties ignores page parameters, and its path needs no final slash', async () => {
    const whole = await get('/properties/');
    assert.equal(whole.status, 200, whole.text);
    for (const path of ['/properties', '/properties/?page=7&page_size=1', '/properties/?page=none']) {
      const answer = await get(path);
      assert.deepEqual([answer.status, answer.text], [200, whole.text], path);
    }
  });

  it('200: the PMS list of properties is empty, and not refused, for a tenant that has no properties and no hotel feature', async () => {
    const tenant = await service.tenant({ features: ['restaurant'] });
    const answer = await get('/properties/', await pmsHeaders(service, tenant));
    assert.deepEqual([answer.status, answer.body], [200, []]);
  });

  it('200: the PMS API lists the properties of a tenant even if the tenant does not have the hotel feature', async () => {
    const gated = await hotelTenant(service, { features: [] });
    const answer = await get('/properties/', gated.pms);
    assert.deepEqual([answer.status, answer.body.length], [200, 2]);
  });

  it('200: the response to HEAD of the PMS list of properties has no body', async () => {
    const answer = await service.call('HEAD', `${PMS}/properties/`, { headers: hotel.pms });
    assert.deepEqual([answer.status, answer.text], [200, '']);
  });
});

describe('GET /v1/channel-manager/pms/properties/{property_id}/room-types/', () => {
  const roomTypes = (propertyId: string, headers?: Record<string, string>) =>
    get(`/properties/${propertyId}/room-types/`, headers);

  it('200: the PMS list has the room types with their active rate plans, in the order of the JSON file that describes the tenant', async () => {
    const answer = await roomTypes(hotel.id('Harbour House'));
    assert.equal(answer.status, 200, answer.text);
    const plan = (name: string, roomType: string, rest: object) => ({
      id: hotel.id('Harbour House', roomType, name),
      name,
      ...rest,
    });
    assert.deepEqual(answer.body, [
      {
        id: hotel.id('Harbour House', 'Double'),
        name: 'Double',
        max_occupancy: 2,
        base_price: '90.00',
        rate_plans: [
          plan('Flexible', 'Double', { base_price: '100.00', is_refundable: true, min_nights: 1 }),
          plan('Saver', 'Double', { base_price: '80.00', is_refundable: false, min_nights: 2 }),
        ],
      },
      {
        id: hotel.id('Harbour House', 'Suite'),
        name: 'Suite',
        max_occupancy: 4,
        base_price: null,
        rate_plans: [plan('Suite rate', 'Suite', { base_price: '250.50', is_refundable: true, min_nights: 1 })],
      },
      {
        id: hotel.id('Harbour House', 'Bunk'),
        name: 'Bunk',
        max_occupancy: 1,
        base_price: '25.00',
        rate_plans: [],
      },
      { id: hotel.id('Harbour House', 'Floor'), name: 'Floor', max_occupancy: 1, base_price: null, rate_plans: [] },
    ]);
  });

  it('200: the list of room types of a property does not show room types of another property', async () => {
    const answer = await roomTypes(hotel.id('Lagoon Lodge'));
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      answer.body.map((roomType: { id: string }) => roomType.id),
      [hotel.id('Lagoon Lodge', 'Double')],
    );
  });

  it('200: the path of the room types accepts a property id in capital letters', async () => {
    const answer = await roomTypes(hotel.id('Lagoon Lodge').toUpperCase());
    assert.deepEqual([answer.status, answer.body.length], [200, 1]);
  });
});
