import assert from 'node:assert/strict';
import { openHotel, type TestHotel } from '../../test/support/hotel.ts';
import type { TestService } from '../../test/support/service.ts';
import { type ClientOptions, Roomservice, RoomserviceError } from '../src/index.ts';

export interface House extends TestHotel {
  /** A client with the house's credential, and whatever else a test gives it. */
  client(options?: Partial<ClientOptions>): Roomservice;
}

/** A tenant with restaurant and hotel, on a service. */
export async function openHouse(service: TestService): Promise<House> {
  const hotel = await openHotel(service);
  const { api_key: apiKey, api_secret: apiSecret } = hotel.credential;
  return {
    ...hotel,
    client: (options) => new Roomservice({ baseUrl: service.url, apiKey, apiSecret, ...options }),
  };
}

let made = 0;

/** An order of one glass of water, under an id of its own. */
export function water() {
  made += 1;
  return { external_order_id: `sdk-order-${made}`, items: [{ item_id: 'WATER', quantity: 1 }] };
}

/** What a call fails with; a call that succeeds is the test's failure. */
export async function failureOf(call: Promise<unknown>): Promise<RoomserviceError> {
  const error = await call.then(
    () => assert.fail('it should not have succeeded'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof RoomserviceError, String(error));
  return error;
}

/** All that an iterator gives. */
export async function collect<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of iterable) {
    all.push(entry);
  }
  return all;
}
