import { reservationPath } from '../../../support/hotel.ts';
import { orderPath } from '../../../support/restaurant.ts';
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

/** Invariant 1. All that got a 2xx is stored with the id and the last status from the responses, and a client can read it. */
export const nothingIsLost: Invariant = {
  promise: '1 no accepted data is lost',
  async check(world, { creationsBefore }) {
    const rows = await readRows(world);
    const { creations } = world.history;
    const succeeded = creations.filter(({ successes }) => successes.length > 0);
    return [
      ...succeeded.flatMap((creation) => faultOfRow(creation, rows.get(keyOf(creation)))),
      ...(await faultsOfReading(world, creations.slice(creationsBefore))),
      ...(await faultsOfOtaStays(world)),
    ];
  },
};

/**
 * Invariant 2. For each external id of a credential, the database has at most one row, at most one call got 201, and all 2xx responses
 * contain the same id. If the service refused all calls, or no client sent one, the database has no row.
 */
export const onceOnly: Invariant = {
  promise: '2 each create takes effect once',
  async check(world) {
    const rows = await readRows(world);
    const { creations, surprises } = world.history;
    const asked = new Set(creations.map(keyOf));
    const uninvited = [...rows.keys()]
      .filter((key) => !asked.has(key))
      .map((key) => `${key} is stored, but no client created it`);
    const unique = new Map(creations.map((creation) => [keyOf(creation), creation]));
    return [
      ...uninvited,
      ...[...unique].flatMap(([key, creation]) => faultsOfKey(key, creation, rows.get(key) ?? [])),
      ...surprises.splice(0).map((surprise) => `an unexplained response: ${surprise}`),
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
    return [`${keyOf(creation)} got a 2xx with the id ${id}, but is not stored with this id`];
  }
  return row.status === status
    ? []
    : [`${keyOf(creation)} has the status ${status} in the last response, but ${row.status} in the database`];
}

function faultsOfKey(key: string, { successes, isSettled }: Creation, rows: Row[]): string[] {
  const created = successes.filter(({ status }) => status === 201).length;
  const ids = new Set(successes.map(({ id }) => id));
  return [
    ...(rows.length > 1 ? [`${key} has ${rows.length} rows`] : []),
    ...(created > 1 ? [`${key} got ${created} responses with 201`] : []),
    ...(ids.size > 1 ? [`${key} got responses with different ids: ${[...ids].join(', ')}`] : []),
    ...(isSettled && successes.length === 0 && rows.length > 0 ? [`${key} was refused, but is stored`] : []),
  ];
}

/** Reads what was created since the fault began through the API. */
async function faultsOfReading({ client, knownPartners }: World, creations: Creation[]): Promise<string[]> {
  // The suite reads only as partners in `knownPartners`, because the credential of any other partner may be revoked.
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

interface OtaStayRow {
  external_source: string;
  external_id: string;
  id: string;
  status: string;
  check_in: string;
  check_out: string;
}

async function faultsOfOtaStays({ postgres, history }: World): Promise<string[]> {
  const rows = await postgres.query<OtaStayRow>(`
    SELECT external_source, external_id, id, status, check_in::text, check_out::text FROM reservation
    WHERE external_id IS NOT NULL
  `);
  const stored = Map.groupBy(rows, (row) => `${row.external_source} ${row.external_id}`);
  return history.otaStays.flatMap(({ source, externalId, lastSent, id }) => {
    const [row, ...others] = stored.get(`${source} ${externalId}`) ?? [];
    if (lastSent === null) {
      return [];
    }
    const seen = row && { status: row.status, check_in: row.check_in, check_out: row.check_out };
    const isRight = row?.id === id && others.length === 0 && JSON.stringify(seen) === JSON.stringify(lastSent);
    return isRight
      ? []
      : [`${source} ${externalId}: the OTA sent ${JSON.stringify(lastSent)}, but ${JSON.stringify(row)} is stored`];
  });
}
