import { randomBytes } from 'node:crypto';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { cleanUp, newFolder } from '../../support/command.ts';
import { type Postgres, startPostgres } from '../postgres.ts';
import type { Outcome } from './call.ts';
import { Child } from './child.ts';
import type { HogTask } from './hog.ts';
import { type BudgetTenant, moreKeys, openTenant, smallMenu } from './house.ts';
import type { NeighbourTask, SeenOfBoth } from './neighbour.ts';
import { Node } from './node.ts';

/**
 * Number of credentials of the neighbour, the tenant that makes the usual calls. The neighbour makes twenty calls per second, and fewer
 * credentials would not have enough budget for these calls.
 */
const NEIGHBOUR_KEYS = 5;

/** Database, helper processes and functions that all cases use. Each case also starts a process, which it measures. */
export interface Stage {
  env: Record<string, string>;
  db: Database;
  /** Process of the service with unlimited budgets. It gets the calls that fill tenants with data. */
  backstage: Node;
  /** Process for comparison (the control process). It gets the usual calls of the neighbour, but not the calls of the busy tenant. */
  control: Node;
  neighbour: Child<NeighbourTask | 'take' | 'rest', SeenOfBoth>;
  hog: Child<HogTask, Outcome[]>;
  /**
   * Task for the neighbour program, without the URL of the measured process. Each case adds this URL, because each case starts a new
   * process.
   */
  usual: Omit<NeighbourTask, 'service'>;
  openTenant(menu: Parameters<typeof openTenant>[2]): Promise<BudgetTenant>;
  close(): Promise<void>;
}

/**
 * Starts the database, two processes of the service, and the programs that simulate the busy tenant (hog) and its neighbour. Call `close`
 * at the end.
 */
export async function openStage(): Promise<Stage> {
  const closers: (() => unknown)[] = [cleanUp];
  const close = async () => {
    for (const closer of closers.splice(0).toReversed()) {
      await closer();
    }
  };
  try {
    return { ...(await build(closers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function build(closers: (() => unknown)[]): Promise<Omit<Stage, 'close'>> {
  const postgres: Postgres = await startPostgres(await newFolder());
  closers.push(() => postgres.close());
  const env = {
    DATABASE_URL: postgres.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
  };
  const start = async (more: Record<string, string>) => {
    const node = await Node.start({ ...env, ...more });
    closers.push(() => node.kill());
    return node;
  };
  const backstage = await start({ RATE_LIMIT_PER_MINUTE: '1000000000' });
  const control = await start({});
  const db = createDatabase({ url: postgres.url, poolSize: 2, hasNoTimeLimit: true });
  closers.push(() => db.destroy());
  const neighbour: Stage['neighbour'] = new Child('neighbour.ts');
  const hog: Stage['hog'] = new Child('hog.ts');
  closers.push(
    () => neighbour.end(),
    () => hog.end(),
  );
  const tenant = await openTenant(db, backstage.url, smallMenu());
  const keys = await moreKeys(backstage.url, tenant, NEIGHBOUR_KEYS);
  const usual = { control: control.url, keys, roomTypeId: tenant.roomTypeId };
  const open: Stage['openTenant'] = async (menu) => await openTenant(db, backstage.url, menu);
  return { env, db, backstage, control, neighbour, hog, usual, openTenant: open };
}
