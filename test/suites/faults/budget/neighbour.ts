/**
 * Simulates the neighbour of the busy tenant: a second tenant, which makes the usual calls. This program runs as a separate process. It
 * sends the same calls at the same times to two processes of the service. The busy tenant uses the first process. The second process (the
 * control process) gets no calls of the busy tenant, and serves for comparison. The program also calls `/livez` of both processes.
 */
import { AVAILABILITY, dayAhead, RESERVATIONS, ROOMS } from '../../../support/hotel.ts';
import { MENU, ORDERS } from '../../../support/restaurant.ts';
import { type Call, type CallHeaders, get, idOf, json, make, newAgent, type Outcome, UNIQUE } from './call.ts';

const CALL_EVERY_MS = 50;
const LIVEZ_EVERY_MS = 20;
const NIGHTS = 300;
/**
 * Maximum number of connections to each process for the usual calls. The calls of `/livez` have other connections with the same maximum, so
 * that they never wait for a usual call. All connections stay open for later calls. A new connection could take seconds, because the kernel
 * may delay it while the event loop of the called process pauses.
 */
const CONNECTIONS = 128;

export interface NeighbourTask {
  service: string;
  control: string;
  /** Credentials that the calls use in turn, because the budget of one credential is too small for all calls. */
  keys: CallHeaders[];
  roomTypeId: string;
}

/** Outcomes of the calls since the previous report to the parent process. */
interface Seen {
  calls: Outcome[];
  livez: Outcome[];
}
export type SeenOfBoth = Record<'service' | 'control', Seen>;

const callsAgent = newAgent(CONNECTIONS);
const livezAgent = newAgent(CONNECTIONS);
const nothing = (): SeenOfBoth => ({ service: { calls: [], livez: [] }, control: { calls: [], livez: [] } });
let seen = nothing();
let pending = new Set<{ beganAtMs: number; list: Outcome[] }>();
let timers: NodeJS.Timeout[] = [];
let count = 0;
/**
 * Last order of each credential, given as the number (`index`) of the call that placed the order. The external id of the order contains
 * this number.
 */
const placed = new Map<CallHeaders, number>();

function begin(task: NeighbourTask): void {
  const [first] = task.keys;
  if (first === undefined) {
    throw new Error('The neighbour has no keys.');
  }
  const callUsually = () => {
    count += 1;
    const keys = task.keys[count % task.keys.length] ?? first;
    callBoth(task, 'calls', usualCall(count, task.roomTypeId, placed.get(keys)), keys);
  };
  timers = [
    setInterval(callUsually, CALL_EVERY_MS),
    setInterval(() => callBoth(task, 'livez', get('anonymous', '/livez'), first), LIVEZ_EVERY_MS),
  ];
}

function callBoth(task: NeighbourTask, what: keyof Seen, call: Call, keys: CallHeaders): void {
  // The two processes get the call one after the other. The process that gets it earlier has an advantage. So the order of the two
  // processes is reversed after each call, except after a call of `/livez`.
  const targets = count % 2 === 0 ? (['service', 'control'] as const) : (['control', 'service'] as const);
  for (const target of targets) {
    const index = count * 2 + (target === 'service' ? 0 : 1);
    void callOne(task[target], seen[target][what], call, keys, index);
  }
}

async function callOne(url: string, list: Outcome[], call: Call, keys: CallHeaders, index: number): Promise<void> {
  const agent = call.path === '/livez' ? livezAgent : callsAgent;
  const noted = { beganAtMs: performance.now(), list };
  pending.add(noted);
  const outcome = await make(url, call, keys, index, agent);
  if (pending.delete(noted)) {
    list.push(outcome);
  }
  if (call.path === ORDERS && outcome.status === 201) {
    placed.set(keys, index);
  }
}

/**
 * Returns one of the usual calls, chosen by `number`.
 * @param latest number of the call that placed the last order of the credential. The returned call may read this order. Undefined: no order
 * exists yet
 */
function usualCall(number: number, roomTypeId: string, latest: number | undefined): Call {
  const night = 5 + (number % NIGHTS);
  const stay = { room_type_id: roomTypeId, check_in: dayAhead(night), check_out: dayAhead(night + 2) };
  const order = { external_order_id: UNIQUE, items: [{ item_id: 'PIZZA-1', quantity: 1 }] };
  const booking = { external_reservation_id: UNIQUE, ...stay, guest: { name: 'Ana Lima', phone: '+351 912 000 000' } };
  const calls = [
    get('partner', MENU),
    json('partner', 'POST', ORDERS, order),
    get('partner', `${AVAILABILITY}?${new URLSearchParams(stay)}`),
    get('partner', ROOMS),
    json('partner', 'POST', ORDERS, order),
    get('partner', `${ORDERS}?page_size=20`),
    get('partner', MENU),
    json('partner', 'POST', RESERVATIONS, booking),
    get('partner', `${AVAILABILITY}?${new URLSearchParams(stay)}`),
    get('partner', latest === undefined ? ROOMS : `${ORDERS}${idOf(latest)}/`),
  ];
  return calls[number % calls.length] ?? get('partner', MENU);
}

/**
 * Returns the outcomes of the HTTP calls since the previous report to the parent process. If an HTTP call still waits for its response, it
 * is included only if it has waited for more than 1 s.
 */
function takeSeen(): SeenOfBoth {
  for (const { beganAtMs, list } of pending) {
    const tookMs = performance.now() - beganAtMs;
    if (tookMs > 1_000) {
      list.push({ status: 0, tookMs });
    }
  }
  const taken = seen;
  pending = new Set();
  seen = nothing();
  return taken;
}

process.on('message', (message: NeighbourTask | 'take' | 'rest') => {
  if (typeof message === 'object') {
    begin(message);
    return;
  }
  if (message === 'rest') {
    timers.forEach((timer) => clearInterval(timer));
  }
  process.send?.(takeSeen());
});
process.on('disconnect', () => process.exit());
