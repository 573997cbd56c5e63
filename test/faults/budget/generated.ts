import { dayAhead, RESERVATIONS, reservationPath, STAFF_RESERVATIONS } from '../../support/hotel.ts';
import { orderPath, ORDERS, STAFF_ORDERS } from '../../support/restaurant.ts';
import type { HttpCase } from '../../fuzz/cases.ts';
import { type Operation, readOperations } from '../../fuzz/operations.ts';
import { exampleRequest } from '../../fuzz/requests.ts';
import { bodyOf } from '../../fuzz/send.ts';
import { poolOf } from '../../fuzz/values.ts';
import { ownShapes, type Shape, SHAPES } from '../../fuzz/shapes.ts';
import type { BudgetCase } from './case.ts';
import type { Call, Who } from './call.ts';
import { type BudgetTenant, times } from './house.ts';

/**
 * Size in bytes of the long part of a generated body, for example of one long text. The functions in `test/fuzz/shapes.ts` generate this
 * part so that a careless parser needs much time for it. The other fields of the body are short, so the whole body is at most 1 MiB long.
 */
const SIZE_BYTES = 1024 ** 2 - 64 * 1024;
const LONGEST_RANGE_NIGHTS = 730;
const QUERY_BYTES = 12_000;
const STORED_ORDERS = 200;
const STORED_STAYS = 100;
/**
 * Paths of lists, with the kind of caller that reads them. The responses contain the ids of the tenant's data, which the calls of the cases
 * need.
 */
const LISTS = [
  ['staff', `${STAFF_ORDERS}?page_size=50`],
  ['staff', STAFF_RESERVATIONS],
  ['owner', '/v1/third-party/credentials/'],
  ['pms', '/v1/channel-manager/pms/reservations/'],
] as const;
/** Seed of the generator of paths and queries. The seed is fixed, so that each run makes the same calls. */
const SEED = 1;

/** Returns cases for all operations of the OpenAPI documents. A new operation gets its cases without a change here. */
export async function generatedCases(): Promise<BudgetCase[]> {
  const operations = await readOperations();
  const reads = operations.filter(({ method }) => method === 'GET');
  const bare = operations.filter(({ method, body }) => method !== 'GET' && body === null);
  return [
    ...operations.filter(({ body }) => body !== null).map(bodiesOf),
    ...[...Map.groupBy(reads, callerOf)].map(([who, list]) => readsOf(who, list)),
    bodiesWithout(bare),
  ];
}

/**
 * Returns a case that sends bodies of 1 MiB to one operation. Each body has a different structure that is expensive for a careless parser.
 */
function bodiesOf(operation: Operation): BudgetCase {
  return {
    name: `bodies-of-${operation.id}`,
    what: `bodies of 1 MiB in every shape, ${operation.method} ${operation.path}`,
    async prepare(tenant) {
      const shapes = { ...SHAPES, ...ownShapes(operation) };
      return Object.entries(shapes).map(([name, shape]) => callOf(tenant, operation, name, shape));
    },
  };
}

/** Returns a case that sends bodies to operations that take no body. */
function bodiesWithout(operations: Operation[]): BudgetCase {
  return {
    name: 'bodies-where-none-belongs',
    what: 'bodies of 1 MiB for operations that take none',
    async prepare(tenant) {
      const shapes = Object.entries(SHAPES).slice(0, 6);
      return operations.flatMap((operation) =>
        shapes.map(([name, shape]) => callOf(tenant, operation, `${operation.id}: ${name}`, shape)),
      );
    },
  };
}

/**
 * Returns a case that makes three calls to each GET operation: without optional parameters, with the largest pages and date ranges, and
 * with a long query.
 */
function readsOf(who: Who, operations: Operation[]): BudgetCase {
  return {
    name: `reads-of-${who}`,
    what: 'every GET without optional parameters, with the largest pages and ranges, and with a long query, for a tenant with much data',
    async prepare(tenant) {
      await furnish(tenant);
      return operations.flatMap((operation) => {
        const { name: _, body: __, type: ___, ...call } = callOf(tenant, operation, operation.id, null);
        return queriesOf(operation, call.path).map((path, index) => ({
          ...call,
          name: `${operation.id} ${['without optional parameters', 'with the largest pages', 'with a long query'][index] ?? ''}`,
          path,
        }));
      });
    },
  };
}

function queriesOf({ parameters }: Operation, target: string): string[] {
  const [path = '', query = ''] = target.split('?');
  const largest = new URLSearchParams(query);
  ['page', 'status', 'after'].forEach((name) => largest.delete(name));
  for (const { name, schema } of parameters.filter((parameter) => parameter.in === 'query')) {
    if (name === 'page_size' || name === 'limit') {
      largest.set(name, String(schema.maximum ?? 1));
    }
  }
  if (largest.has('check_in')) {
    largest.set('check_in', dayAhead(0));
    largest.set('check_out', dayAhead(LONGEST_RANGE_NIGHTS));
  }
  const required = parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
  const least = new URLSearchParams(Object.fromEntries(required.map(({ name }) => [name, largest.get(name) ?? ''])));
  const long = Array.from({ length: QUERY_BYTES / 8 }, (_, index) => `a${index}=1`).join('&');
  return [`${path}?${least}`, `${path}?${largest}`, `${path}?${least}&${long}`];
}

function callOf(tenant: BudgetTenant, operation: Operation, name: string, shape: Shape | null): Call {
  const example: HttpCase = { ...exampleRequest(operation, SEED), ...shape?.(SIZE_BYTES) };
  const path =
    pathOf(tenant, operation) + tenant.pools.resolve(/\?.*/.exec(example.target)?.[0] ?? '', encodeURIComponent);
  const call = { name, who: callerOf(operation), method: example.method, path };
  const [, type = ''] = example.headers.find(([header]) => header === 'Content-Type') ?? [];
  return example.body === null ? call : { ...call, type, body: bodyOf(tenant.pools, example.body) };
}

/** Returns the path of an operation, with ids of the tenant in place of the path parameters. */
function pathOf({ pools }: BudgetTenant, { path }: Operation): string {
  const steps = path.split('/');
  const filled = steps.map((step, index) => {
    const name = /^\{(\w+)\}$/.exec(step)?.[1];
    const pool = name === undefined ? null : poolOf({ name, collection: steps[index - 1] ?? '' });
    return pool === null ? step : encodeURIComponent(pools.find(pool, 0));
  });
  return filled.join('/');
}

/** Returns the kind of caller of an operation. For operations of the staff API it is the owner, who may do everything that staff may do. */
function callerOf({ schemes: [scheme = ''] }: Operation): Who {
  const callers: Record<string, Who> = { apiKey: 'partner', pmsApiKey: 'pms', channelKey: 'channel', bearer: 'owner' };
  return callers[scheme] ?? 'anonymous';
}

/** Creates orders, stays and events of a tenant. The function then reads lists, so that `tenant.pools` contains the ids of this data. */
async function furnish({ call, dishes, roomTypeId }: BudgetTenant): Promise<void> {
  const [dish] = dishes;
  const items = [{ item_id: dish?.sku, quantity: 1, addons: dish?.addons.map(({ id }) => ({ addon_id: id })) }];
  const notes = 'As it always was. '.repeat(500);
  await call('partner', 'POST', '/v1/third-party/webhook/', { webhook_url: 'https://127.0.0.1:9/hook' });
  await times(STORED_ORDERS, async (index) => {
    await call('partner', 'POST', ORDERS, { external_order_id: `stored ${index}`, items, notes });
    await call('partner', 'POST', orderPath(`stored ${index}`, 'cancel/'));
  });
  await times(STORED_STAYS, async (index) => {
    const id = `stored ${index}`;
    const stay = { room_type_id: roomTypeId, check_in: dayAhead(9), check_out: dayAhead(39) };
    const guest = { name: 'Ana Lima', phone: '+351 912 000 000' };
    await call('partner', 'POST', RESERVATIONS, { external_reservation_id: id, ...stay, guest });
    await call('partner', 'POST', reservationPath(id, 'cancel/'));
  });
  await Promise.all(LISTS.map(async ([who, path]) => await call(who, 'GET', path)));
}
