import { after, before } from 'node:test';
import fc from 'fast-check';
import type { Database, Tx } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { newId } from '#platform/lib/ids.ts';
import { dayAfter, openSmallHotel, type TestHotel } from '../../support/hotel.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openSession, personId } from '../../support/sessions.ts';
import { manyEqualsEach, type Operation } from './property.ts';

/** Tenant of the tests. `deliveryIds` are the ids of events of its credential. */
interface Hotel extends TestHotel {
  sessionId: string;
  ownerId: string;
  deliveryIds: string[];
}

/** Hotels of the tests. The list is empty until `useHotels` has opened them. */
export const hotels: Hotel[] = [];
let service: TestService;

/** Opens the hotels before the tests of a file, and closes their service afterwards. */
export function useHotels(): void {
  before(async () => {
    service = await startService();
    hotels.splice(0, Infinity, ...(await openHotels())); // Another file of this process may have left its hotels.
  });
  after(() => service.close());
}

/** Defines the test of `manyEqualsEach`. An input names its tenant by the number of its hotel. */
export function check<Input extends { hotel: number }, Output>(
  operation: Omit<Operation<Input, Output>, 'tenantIdOf'>,
): void {
  manyEqualsEach(() => service, { ...operation, tenantIdOf });
}

export function hotelOf({ hotel }: { hotel: number }): Hotel {
  return hotels[hotel % hotels.length] as Hotel;
}

export function tenantIdOf(input: { hotel: number }): number {
  return hotelOf(input).tenantId;
}

export function ownerOf(input: { hotel: number }): { tenantId: number; credentialId: string } {
  const { tenantId, credential } = hotelOf(input);
  return { tenantId, credentialId: credential.id };
}

/** Opens three hotels. The first two have a webhook, so their events get deliveries. */
async function openHotels(): Promise<Hotel[]> {
  const opened = [await openHotel(), await openHotel(), await openHotel()];
  for (const { tenantId, credential } of opened.slice(0, 2)) {
    await service.database.db
      .updateTable('credential')
      .set({ webhook_url: `https://${tenantId}.example/`, webhook_secret: Buffer.from('secret') })
      .where('tenant_id', '=', tenantId)
      .where('id', '=', credential.id)
      .execute();
  }
  return opened;
}

async function openHotel(): Promise<Hotel> {
  const hotel = await openSmallHotel(service, [
    {
      name: 'Double',
      max_occupancy: 2,
      physical_capacity: 3,
      rate_plans: [
        { name: 'Flexible', base_price: '100.00' },
        { name: 'Closed', base_price: '90.5', is_active: false },
      ],
    },
  ]);
  const { id: sessionId } = await openSession(service, hotel.tenantId, 'owner');
  const ownerId = await personId(service, hotel.tenantId, 'owner');
  return { ...hotel, sessionId, ownerId, deliveryIds: Array.from({ length: 8 }, newId) };
}

const ODD_TEXTS = ['', '"', "it's", '\\', '{"a": [1, null]}', 'é🍕\n\t', 'NULL', '{1,2}', '00012', ' x ', '\u2028'];
const FIRST_DAY = '2031-02-20';
export const dayAt = (index: number) => dayAfter(FIRST_DAY, index);

/** Arbitrary values of the fields of inputs. `hotel` is the number of a hotel. */
export const any = {
  hotel: fc.nat({ max: 2 }),
  text: fc.constantFrom(...ODD_TEXTS),
  maybeText: fc.constantFrom<(string | null | undefined)[]>(null, undefined, ...ODD_TEXTS),
  day: fc.nat({ max: 9 }).map(dayAt),
  time: fc.nat({ max: 1e9 }).map((ms) => new Date(Date.UTC(2031, 0, 1) + ms)),
  amount: fc.constantFrom('0', '0.10', '99999999.99'),
  id: fc.nat().map(newId),
};

/** Makes a function that runs `write` in a transaction. */
export function inTx<Input, Output>(write: (tx: Tx, inputs: Input[]) => Promise<Output>) {
  return (db: Database, inputs: Input[]) => inTransaction(db, (tx) => write(tx, inputs));
}

/**
 * Writes eight deliveries of each hotel. One is stopped, one is delivered, one has five attempts, and one has an attempt without outcome.
 * @param leaseId lease of all deliveries except one, which another worker has leased. If null, all deliveries except this one are free.
 */
export async function writeDeliveries(db: Database, leaseId: string | null): Promise<void> {
  const leasedUntil = new Date(Date.now() + 3_600_000);
  for (const { tenantId, credential, deliveryIds } of hotels) {
    for (const [index, id] of deliveryIds.entries()) {
      const key = { tenant_id: tenantId, id, credential_id: credential.id };
      const at = new Date(Date.UTC(2026, 0, 1) + index * 1_000);
      const isOfOther = index === 5;
      await db
        .insertInto('event')
        .values({ ...key, type: 'order.status_changed', body: `{"${index}":1}`, subject: '{}', created_at: at })
        .execute();
      await db
        .insertInto('delivery')
        .values({
          ...key,
          status: index === 7 ? 'delivered' : index === 6 ? 'stopped' : 'pending',
          attempt_count: leaseId !== null ? 2 : ([0, 0, 1, 5][index] ?? 0),
          next_attempt_at: at,
          leased_until: isOfOther || leaseId !== null ? leasedUntil : null,
          lease_id: isOfOther ? newId() : leaseId,
        })
        .execute();
    }
  }
}
