import assert from 'node:assert/strict';
import { openHotel, type TestHotel } from '../../test/support/hotel.ts';
import type { TestService } from '../../test/support/service.ts';
import { type ClientOptions, Roomservice, RoomserviceError } from '../src/index.ts';

export interface PartnerTenant extends TestHotel {
  /** Returns an SDK client with the tenant's credential. The given options override the default options of the tests. */
  client(options?: Partial<ClientOptions>): Roomservice;
}

/** Creates a tenant with a restaurant and a hotel, and returns it with a function that makes SDK clients. */
export async function openPartnerTenant(service: TestService): Promise<PartnerTenant> {
  const hotel = await openHotel(service);
  const { api_key: apiKey, api_secret: apiSecret } = hotel.credential;
  return {
    ...hotel,
    client: (options) => new Roomservice({ baseUrl: service.url, apiKey, apiSecret, ...options }),
  };
}

let ordersMade = 0;

/** Returns the body of an order of one glass of water, with a new external id. */
export function water() {
  ordersMade += 1;
  return { external_order_id: `sdk-order-${ordersMade}`, items: [{ item_id: 'WATER', quantity: 1 }] };
}

/** Waits until the call fails, and returns its RoomserviceError. Fails the test if the call succeeds or throws another kind of error. */
export async function failureOf(call: Promise<unknown>): Promise<RoomserviceError> {
  const error = await call.then(
    () => assert.fail('The call succeeded, but it should have failed.'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof RoomserviceError, String(error));
  return error;
}

/** Reads an async iterable to its end and returns its entries. */
export async function collect<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of iterable) {
    all.push(entry);
  }
  return all;
}
