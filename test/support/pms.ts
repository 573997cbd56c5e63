import type { TenantDocument } from '#service/tenant-document/schema.ts';
import { applyTenantDocument } from '#service/tenant-document/tenant-document.ts';
import { makeChannel, type TestChannel, sendReservation } from './channel.ts';
import { pmsHeaders, RESERVATIONS } from './hotel.ts';
import type { Answer } from './http.ts';
import type { TestService, TestTenant } from './service.ts';
import { sampleHotel } from './tenants.ts';

export const PMS = '/v1/channel-manager/pms';

/** A tenant with a hotel, a PMS credential, and a channel for bookings of an OTA. */
export interface ManagedHotel extends TestTenant {
  pms: Record<string, string>;
  channel: TestChannel;
  /** Returns the id of the property, of its room type, or of a rate plan of this room type. */
  id(property: string, roomType?: string, ratePlan?: string): string;
}

export async function hotelTenant(service: TestService, changes: Partial<TenantDocument> = {}): Promise<ManagedHotel> {
  const tenant = await service.tenant({ features: ['hotel'], properties: sampleHotel(), ...changes });
  const { users, menu, ...hotel } = tenant.document;
  const applied = await applyTenantDocument(service.database.db, hotel);
  const ids = new Map<string, string>();
  for (const property of applied.properties) {
    ids.set(property.name, property.id);
    for (const roomType of property.room_types) {
      ids.set(`${property.name}/${roomType.name}`, roomType.id);
      for (const plan of roomType.rate_plans) {
        ids.set(`${property.name}/${roomType.name}/${plan.name}`, plan.id);
      }
    }
  }
  return {
    ...tenant,
    pms: await pmsHeaders(service, tenant),
    channel: await makeChannel(service, tenant, 'An OTA'),
    id(...names) {
      const id = ids.get(names.join('/'));
      if (id === undefined) {
        throw new Error(`The tenant document has no ${names.join('/')}.`);
      }
      return id;
    },
  };
}

interface Booking extends Record<string, unknown> {
  room_type_id: string;
  check_in: string;
  check_out: string;
}

let bookings = 0;

/** Books through the channel of the OTA. The service accepts such a booking even if all rooms are taken or the check-in is in the past. */
export async function bookByOta(service: TestService, hotel: ManagedHotel, booking: Booking): Promise<Answer> {
  bookings += 1;
  const made = { external_id: `OTA-${bookings}`, status: 'confirmed', guest: { full_name: 'Ada Guest' } };
  return await sendReservation(service, hotel.channel, { ...made, ...booking });
}

export async function bookByPartner(service: TestService, hotel: ManagedHotel, booking: Booking): Promise<Answer> {
  bookings += 1;
  const made = { external_reservation_id: `R-${bookings}`, guest: { name: 'Bo Guest', phone: '+351 1' } };
  return await service.call('POST', RESERVATIONS, { headers: hotel.partner, json: { ...made, ...booking } });
}
