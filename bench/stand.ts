import type { Postgres } from './postgres.ts';
import { type Service, startService } from './service.ts';
import { withConnection } from './sql.ts';

/**
 * Number of database connections that the service uses for its API. A floor (simple program with which the service is compared) uses the
 * same number if it queries the database.
 */
export const CONNECTIONS = 16;
/** Number of database connections that the service reserves for deliveries, in addition to `CONNECTIONS` (README, DATABASE_POOL_SIZE). */
const DELIVERY_CONNECTIONS = 2;

/** Credential with which the benchmark makes calls. */
export interface Caller {
  tenantId: number;
  credentialId: string;
  /** Headers that authenticate the calls of this credential. */
  headers: Record<string, string>;
}

export interface RoomType {
  tenantId: number;
  id: string;
  name: string;
  basePrice: string;
  ratePlanId: string;
}

/**
 * A database, the processes of the service that run on it, and all credentials in the database. In `partners` and in `pms`, two consecutive
 * entries belong to different tenants.
 */
export interface Stand {
  databaseUrl: string;
  /** Process that runs the API. */
  service: Service;
  partners: Caller[];
  pms: Caller[];
  /** Room types of each tenant. The key is the tenant id. */
  roomTypes: Map<number, RoomType[]>;
  /** First night that has a row in the table `night`, as `YYYY-MM-DD`. */
  firstNight: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts the service on a database that holds the tenants of the benchmark.
 * @param settings additional settings of the service, which override its usual settings
 * @param workers number of processes that only run the deliveries, beside one process that only runs the API. If 0, one process runs the
 * API and the deliveries
 */
export async function openStand(
  postgres: Postgres,
  databaseUrl: string,
  settings: Record<string, string> = {},
  workers = 0,
): Promise<Stand> {
  const seeded = await readCallersAndRooms(databaseUrl);
  await using opened = new AsyncDisposableStack();
  const start = async (args: string[]) =>
    opened.use(
      await startService(
        {
          DATABASE_URL: databaseUrl,
          DATABASE_POOL_SIZE: String(CONNECTIONS + DELIVERY_CONNECTIONS),
          MASTER_KEY: postgres.masterKey.toString('base64'),
          // The service limits sign-ins by client address. So the benchmark sends a different X-Forwarded-For address for each user, and
          // the service has to trust this header.
          TRUSTED_PROXIES: '127.0.0.1',
          ...settings,
        },
        args,
      ),
    );
  const service = await start(workers === 0 ? [] : ['--only', 'api']);
  for (let worker = 0; worker < workers; worker += 1) {
    await start(['--only', 'worker']);
  }
  const processes = opened.move();
  return { databaseUrl, service, ...seeded, [Symbol.asyncDispose]: () => processes.disposeAsync() };
}

interface CallerRow {
  tenant_id: number;
  id: string;
  api_key: string;
  api_secret: string;
}

async function readCallersAndRooms(url: string): Promise<Pick<Stand, 'partners' | 'pms' | 'roomTypes' | 'firstNight'>> {
  return await withConnection(url, async (client) => {
    const callers = async (audience: string, header: string) => {
      const { rows } = await client.query<CallerRow>(
        `SELECT c.tenant_id, c.id, c.api_key, s.api_secret FROM credential AS c JOIN bench_secret AS s ON s.credential_id = c.id
         WHERE c.audience = $1 ORDER BY s.number, c.tenant_id`,
        [audience],
      );
      return rows.map(({ tenant_id, id, api_key, api_secret }) => ({
        tenantId: tenant_id,
        credentialId: id,
        headers: { [`${header}-key`]: api_key, [`${header}-secret`]: api_secret },
      }));
    };
    const { rows: roomTypes } = await client.query<RoomType>(
      `SELECT r.tenant_id AS "tenantId", r.id, r.name, r.base_price AS "basePrice", p.id AS "ratePlanId"
       FROM room_type AS r JOIN rate_plan AS p ON p.tenant_id = r.tenant_id AND p.room_type_id = r.id ORDER BY r.position`,
    );
    const { rows: nights } = await client.query<{ first: string }>(
      `SELECT date AS first FROM night ORDER BY tenant_id, room_type_id, date LIMIT 1`,
    );
    return {
      partners: await callers('third_party', 'x-api'),
      pms: await callers('pms', 'x-pms-api'),
      roomTypes: Map.groupBy(roomTypes, (roomType) => roomType.tenantId),
      firstNight: nights[0]?.first ?? '',
    };
  });
}
