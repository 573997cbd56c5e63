import { reservationPath } from '../../support/hotel.ts';
import { orderPath } from '../../support/restaurant.ts';
import type { Creation } from '../history.ts';
import type { World } from '../world.ts';
import type { Invariant } from './invariant.ts';

interface Row {
  kind: Creation['kind'];
  id: string;
  credential_id: string;
  external_id: string;
  status: string;
}

const FIRST_STATUS: Record<Creation['kind'], string> = { order: 'pending', reservation: 'confirmed' };
const READERS = 4;

/** Invariant 1: what was answered 2xx is there, with the same id, in the last status that was answered, and can be read. */
export const nothingIsLost: Invariant = {
  promise: '1 no loss',
  lookAt:
    'src/restaurant/orders/orders.ts place, src/hotel/reservations/reservations.ts book, src/hotel/channels/receive.ts; transactions and retries',
  async check(world, { creationsBefore }) {
    const rows = await readRows(world);
    const { creations } = world.history;
    const succeeded = creations.filter(({ successes }) => successes.length > 0);
    return [
      ...succeeded.flatMap((creation) => faultOfRow(creation, rows.get(keyOf(creation)))),
      ...(await faultsOfReading(world, creations.slice(creationsBefore))),
      ...(await faultsOfToldStays(world)),
    ];
  },
};

/** Invariant 2: one row for a key, at most one 201, all 2xx alike; what was refused, or never asked for, is not there. */
export const onceOnly: Invariant = {
  promise: '2 once',
  lookAt: 'the unique keys of restaurant_order and reservation; ON CONFLICT and the look-up after it',
  async check(world) {
    const rows = await readRows(world);
    const { creations, surprises } = world.history;
    const asked = new Set(creations.map(keyOf));
    const uninvited = [...rows.keys()].filter((key) => !asked.has(key)).map((key) => `${key} is stored; nobody asked`);
    const unique = new Map(creations.map((creation) => [keyOf(creation), creation]));
    return [
      ...uninvited,
      ...[...unique].flatMap(([key, creation]) => faultsOfKey(key, creation, rows.get(key) ?? [])),
      ...surprises.splice(0).map((surprise) => `an answer that nothing explains: ${surprise}`),
    ];
  },
};

function keyOf({ kind, partner, externalId }: Creation): string {
  return `${kind} ${externalId} of ${partner.credentialId}`;
}

async function readRows({ postgres }: World): Promise<Map<string, Row[]>> {
  const rows = await postgres.query<Row>(`
    SELECT 'order' AS kind, id, credential_id, external_order_id AS external_id, status FROM restaurant_order
    UNION ALL
    SELECT 'reservation', id, credential_id, external_reservation_id, status FROM reservation
    WHERE credential_id IS NOT NULL
  `);
  return Map.groupBy(rows, (row) => `${row.kind} ${row.external_id} of ${row.credential_id}`);
}

function faultOfRow(creation: Creation, rows: Row[] = []): string[] {
  const id = creation.successes[0]?.id;
  const row = rows.find((each) => each.id === id);
  const status = creation.statuses.at(-1) ?? FIRST_STATUS[creation.kind];
  if (row === undefined) {
    return [`${keyOf(creation)} was answered as ${id}, and is not stored so`];
  }
  return row.status === status ? [] : [`${keyOf(creation)} was answered ${status}, and is stored ${row.status}`];
}

function faultsOfKey(key: string, { successes, isSettled, refusal }: Creation, rows: Row[]): string[] {
  const created = successes.filter(({ status }) => status === 201).length;
  const ids = new Set(successes.map(({ id }) => id));
  return [
    ...(rows.length > 1 ? [`${key} has ${rows.length} rows`] : []),
    ...(created > 1 ? [`${key} was answered 201 ${created} times`] : []),
    ...(ids.size > 1 ? [`${key} was answered with the ids ${[...ids].join(', ')}`] : []),
    ...(isSettled && successes.length === 0 && rows.length > 0
      ? [`${key} was refused (${refusal}), and is stored`]
      : []),
  ];
}

/** Through the API, for those that the fault may have touched. */
async function faultsOfReading({ client, knownPartners }: World, creations: Creation[]): Promise<string[]> {
  // Of the other partners the credential has been revoked meanwhile.
  const readable = creations.filter(({ partner }) => knownPartners.has(partner.credentialId));
  const waiting = readable.filter(({ successes }) => successes.length > 0);
  const faults: string[] = [];
  const read = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { kind, partner, externalId, successes } = next;
      const path = kind === 'order' ? orderPath(externalId) : reservationPath(externalId);
      const options = { headers: partner.headers };
      const { answer } = await client.settle(partner.tenant, { method: 'GET', path, options });
      const id: unknown = answer.body?.order_id ?? answer.body?.reservation_id;
      if (id !== successes[0]?.id) {
        faults.push(`${keyOf(next)} reads as ${answer.status} ${answer.text}`);
      }
    }
  };
  await Promise.all(Array.from({ length: READERS }, read));
  return faults;
}

interface ToldRow {
  tenant_id: string;
  external_source: string;
  external_id: string;
  id: string;
  status: string;
  check_in: string;
  check_out: string;
}

async function faultsOfToldStays({ postgres, history }: World): Promise<string[]> {
  const rows = await postgres.query<ToldRow>(`
    SELECT tenant_id, external_source, external_id, id, status, check_in::text, check_out::text FROM reservation
    WHERE external_id IS NOT NULL
  `);
  const stored = Map.groupBy(rows, (row) => `${row.external_source} ${row.external_id}`);
  return history.toldStays.flatMap(({ source, externalId, told, id }) => {
    const [row, ...others] = stored.get(`${source} ${externalId}`) ?? [];
    if (told === null) {
      return [];
    }
    const seen = row && { status: row.status, check_in: row.check_in, check_out: row.check_out };
    const isRight = row?.id === id && others.length === 0 && JSON.stringify(seen) === JSON.stringify(told);
    return isRight
      ? []
      : [`${source} ${externalId} was told ${JSON.stringify(told)}, stored is ${JSON.stringify(row)}`];
  });
}
