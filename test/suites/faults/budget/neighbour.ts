/**
 * Simulates the neighbour of the busy tenant, which makes the usual calls. For comparison, it makes the same calls also to the control
 * process, which gets no calls of the busy tenant. It also calls `/livez` of both processes.
 */
import { answerJobs } from '../../../../bench/child.ts';
import { AVAILABILITY, dayAhead, RESERVATIONS, ROOMS } from '../../../support/hotel.ts';
import { MENU, ORDERS } from '../../../support/restaurant.ts';
import type { Headers } from '../tenants.ts';
import { type Call, get, idOf, json, make, newAgent, type Outcome, UNIQUE } from './call.ts';

const CALL_EVERY_MS = 50;
const LIVEZ_EVERY_MS = 20;
const NIGHTS = 300;
/**
 * Maximum number of connections to each process for the usual calls, and for those of `/livez`. They stay open, because the kernel may delay
 * a new connection for seconds while the event loop of the called process pauses.
 */
const CONNECTIONS = 128;

export interface NeighbourTask {
  service: string;
  control: string;
  /** Credentials that the calls use in turn, because the budget of one credential is too small for all calls. */
  keys: Headers[];
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
/** Number of the call that placed the last order of each credential. The external id of the order contains it. */
const placed = new Map<Headers, number>();

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

function callBoth(task: NeighbourTask, what: keyof Seen, call: Call, keys: Headers): void {
  // The process that gets the call earlier has an advantage, so the order changes.
  const targets = count % 2 === 0 ? (['service', 'control'] as const) : (['control', 'service'] as const);
  for (const target of targets) {
    const index = count * 2 + (target === 'service' ? 0 : 1);
    void callOne(task[target], seen[target][what], call, keys, index);
  }
}

async function callOne(url: string, list: Outcome[], call: Call, keys: Headers, index: number): Promise<void> {
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

/** @param latest number of the call that placed the last order of the credential, which the returned call may read */
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

/** Returns the outcomes since the previous report. A call that still waits is included if it has waited for more than 1 s. */
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

answerJobs(async (message: NeighbourTask | 'take' | 'rest') => {
  if (typeof message === 'object') {
    begin(message);
  } else if (message === 'rest') {
    timers.forEach((timer) => clearInterval(timer));
  }
  return takeSeen();
});
