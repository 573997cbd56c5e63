import assert from 'node:assert/strict';
import fc from 'fast-check';
import { recount } from '#hotel/reservations/reservations.ts';
import type { Answer } from '../../support/http.ts';
import { eventsOf } from '../../support/hotel.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Call, type Hotel, heldNights, nightKey, step } from './model.ts';
import { callOf, turns, type Wish } from './turns.ts';
import { CAPACITIES, dayOf, type House, openHouses, send } from './world.ts';

/** Time in milliseconds in which a failed list of turns is made shorter. */
const SHRINK_LIMIT_MS = 20_000;

/** Call of a turn with the answer of the service. */
interface Made {
  hotel: number;
  node: number;
  call: Call;
  answer: string;
}

/**
 * Plays random turns of partners, OTAs, guests and staff in hotels that two nodes serve, and compares each turn with the model.
 * @param runs number of random lists of turns, each with new hotels
 * @throws Error with the seed and the shortest list of turns after which the service and the model differ
 */
export async function playNights(options: { runs: number; seed: number }): Promise<void> {
  await withNodes((nodes) => playOn(nodes, options));
}

async function playOn(nodes: TestService[], { runs, seed }: { runs: number; seed: number }): Promise<void> {
  let shrinksUntilMs = Infinity;
  const property = fc.asyncProperty(turns, async (all) => {
    if (performance.now() < shrinksUntilMs) {
      await play(nodes, all).catch((error: unknown) => {
        shrinksUntilMs = Math.min(shrinksUntilMs, performance.now() + SHRINK_LIMIT_MS);
        throw error;
      });
    }
  });
  await fc.assert(property, { numRuns: runs, seed });
}

/** Starts two nodes on one database, and closes both after the work. */
async function withNodes(work: (nodes: TestService[]) => Promise<void>): Promise<void> {
  const config = { rateLimitPerMinute: 1_000_000 };
  const first = await startService({ config });
  try {
    const second = await startService({ beside: first, config });
    try {
      await work([first, second]);
    } finally {
      await second.close();
    }
  } finally {
    await first.close();
  }
}

async function play(nodes: TestService[], all: Wish[][]): Promise<void> {
  const houses = await openHouses(nodes[0] as TestService);
  let hotels: Hotel[] = houses.map(() => ({ capacities: CAPACITIES, closed: new Set(), stays: new Map() }));
  for (const turn of all) {
    const before = hotels;
    const made = await Promise.all(turn.map((wish) => make(nodes, houses, before, wish)));
    const stored = await Promise.all(houses.map((house) => readHotel(nodes[0] as TestService, house)));
    const after = explain(before, made, stored);
    assert.ok(after, `The model gives other answers, or another end:\n${describe(before, made)}\n${stored.join('\n')}`);
    hotels = after;
  }
  for (const [index, house] of houses.entries()) {
    await assertEvents(nodes[0] as TestService, house, hotels[index] as Hotel);
  }
}

async function make(nodes: TestService[], houses: House[], hotels: Hotel[], wish: Wish): Promise<Made> {
  const { hotel, node } = wish;
  const { call, ofHotel } = callOf(hotels, wish);
  const key = 'key' in call ? call.key : '';
  const id = houses[ofHotel]?.stayIds.get(key) ?? key;
  const target = { id, node: nodes[node] as TestService, beside: nodes[1 - node] as TestService };
  const answer = await send(houses[hotel] as House, call, target);
  if (answer.status === 201) {
    houses[hotel]?.stayIds.set(key, answer.body.reservation_id ?? answer.body.id);
  }
  // Staff of one hotel name a stay of the other hotel by its id, which no stay of their hotel has.
  const known = ofHotel === hotel || call.do === 'cancel' ? call : { ...call, key: id };
  return { hotel, node, call: known, answer: textOf(answer) };
}

function textOf({ status, body }: Answer): string {
  return [status, ...(body?.code ? [body.code] : []), ...sellableOf(body)].join(' ');
}

function sellableOf(body: { days?: { sellable: number }[] }): string[] {
  return body?.days === undefined ? [] : [body.days.map(({ sellable }) => sellable).join()];
}

/**
 * Returns the hotels after the calls, if there is an order in which the model gives each call its answer and ends with the stored data.
 * Calls of one turn were under way at the same time, so each order is allowed.
 */
function explain(before: Hotel[], calls: Made[], stored: string[]): Hotel[] | null {
  if (calls.length === 0) {
    return before.every((hotel, index) => shown(hotel) === stored[index]) ? before : null;
  }
  for (const made of calls) {
    const [answer, after] = step(before[made.hotel] as Hotel, made.call);
    const rest = calls.filter((each) => each !== made);
    const explained = answer === made.answer ? explain(before.with(made.hotel, after), rest, stored) : null;
    if (explained !== null) {
      return explained;
    }
  }
  return null;
}

function describe(hotels: Hotel[], made: Made[]): string {
  const lines = made.map(({ hotel, node, call, answer }) => {
    const [expected] = step(hotels[hotel] as Hotel, call);
    return `hotel ${hotel}, node ${node}: ${JSON.stringify(call)}: ${answer}. If it were alone: ${expected}`;
  });
  return [...lines, 'Before:', ...hotels.map(shown)].join('\n');
}

/** Stays and night counters of the model as text, in the form of `readHotel`. */
function shown(hotel: Hotel): string {
  const stays = [...hotel.stays].map(([key, { status, roomType, from, to }]) => [key, status, roomType, from, to]);
  return JSON.stringify([stays.map((stay) => stay.join(' ')).sort(), sorted(heldNights(hotel))]);
}

/** Reads the stays and the night counters of the hotel, and asserts that the counters equal a recount of the stays. */
async function readHotel(
  { database: { db } }: TestService,
  { tenantId, roomTypeIds, stayIds }: House,
): Promise<string> {
  const [stays, nights, { differences }] = await Promise.all([
    db
      .selectFrom('reservation')
      .select(['id', 'status', 'room_type_id', 'check_in', 'check_out'])
      .where('tenant_id', '=', tenantId)
      .execute(),
    db
      .selectFrom('night')
      .select(['room_type_id', 'date', 'held'])
      .where('tenant_id', '=', tenantId)
      .where('held', '<>', 0)
      .execute(),
    recount(db, tenantId),
  ]);
  assert.deepEqual(differences, [], 'the night counters equal a recount of the stays');
  const keys = new Map([...stayIds].map(([key, id]) => [id, key]));
  const texts = stays.map(({ id, status, room_type_id, check_in, check_out }) =>
    [keys.get(id) ?? id, status, roomTypeIds.indexOf(room_type_id), dayOf(check_in), dayOf(check_out)].join(' '),
  );
  const held = nights.map((night) => [
    nightKey(roomTypeIds.indexOf(night.room_type_id), dayOf(night.date)),
    night.held,
  ]);
  return JSON.stringify([texts.sort(), sorted(Object.fromEntries(held))]);
}

const sorted = (held: Record<string, number>) => Object.entries(held).sort(([one], [other]) => (one < other ? -1 : 1));

/** Asserts that each stay of the partner has an event for its booking and for each change of its status, and that no other stay has one. */
async function assertEvents(node: TestService, { tenantId }: House, { stays }: Hotel): Promise<void> {
  const events = await eventsOf(node, tenantId);
  const sent = Map.groupBy(events, (event) => event.sent.data.external_reservation_id as string);
  const types = { created: 'reservation.created', cancelled: 'reservation.cancelled', other: 'reservation.modified' };
  for (const [key, stay] of stays) {
    const expected = stay.events.map((status, index) => [
      index === 0 ? types.created : status === 'cancelled' ? types.cancelled : types.other,
      status,
    ]);
    const written = sent.get(key)?.map(({ type, sent: { data } }) => [type, data.status]);
    assert.deepEqual(written ?? [], expected, `events of ${key}`);
  }
  assert.ok([...sent.keys()].every((key) => stays.has(key)));
}
