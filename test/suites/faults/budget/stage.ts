import { randomBytes } from 'node:crypto';
import { createDatabase } from '#platform/db/database.ts';
import type { MenuDocument } from '#restaurant/menu/schema.ts';
import { cleanUp, newFolder } from '../../../support/command.ts';
import { sampleMenu } from '../../../support/tenants.ts';
import { Closers } from '../closers.ts';
import { startPostgres } from '../postgres.ts';
import type { Outcome } from './call.ts';
import { Child } from './child.ts';
import type { HogTask } from './hog.ts';
import { type BudgetTenant, openTenant } from './house.ts';
import type { NeighbourTask, SeenOfBoth } from './neighbour.ts';
import { Node } from './node.ts';

/**
 * Number of credentials of the neighbour, the tenant that makes the usual calls. The neighbour makes twenty calls per second, and fewer
 * credentials would not have enough budget for these calls.
 */
const NEIGHBOUR_KEYS = 5;

/** Helper processes and functions that all cases use. Each case also starts a process, which it measures. */
export interface Stage {
  /** Environment variables of the measured process. */
  env: Record<string, string>;
  neighbour: Child<NeighbourTask | 'take' | 'rest', SeenOfBoth>;
  hog: Child<HogTask, Outcome[]>;
  /**
   * Task for the neighbour program, without the URL of the measured process. Each case adds this URL, because each case starts a new
   * process.
   */
  usual: Omit<NeighbourTask, 'service'>;
  openTenant(menu?: MenuDocument): Promise<BudgetTenant>;
  closers: Closers;
}

/**
 * Starts the database, the control process, and the programs that simulate the busy tenant (hog) and its neighbour. The control process
 * fills tenants with data before a case. During the case, it gets the usual calls of the neighbour, but not those of the busy tenant. Close
 * the `closers` at the end.
 */
export async function openStage(): Promise<Stage> {
  const closers = new Closers();
  closers.add(cleanUp);
  try {
    return await build(closers);
  } catch (error) {
    await closers.close();
    throw error;
  }
}

async function build(closers: Closers): Promise<Stage> {
  const postgres = await startPostgres(await newFolder());
  closers.add(() => postgres.close());
  const env = {
    DATABASE_URL: postgres.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    TRUSTED_PROXIES: '127.0.0.1',
  };
  const control = await Node.start({ ...env, RATE_LIMIT_PER_MINUTE: '1000000000' });
  closers.add(() => control.kill());
  const db = createDatabase({ url: postgres.url, poolSize: 2, hasNoTimeLimit: true });
  closers.add(() => db.destroy());
  const neighbour: Stage['neighbour'] = new Child('neighbour.ts');
  closers.add(() => neighbour.end());
  const hog: Stage['hog'] = new Child('hog.ts');
  closers.add(() => hog.end());
  const open: Stage['openTenant'] = async (menu = sampleMenu()) => await openTenant(db, control.url, menu);
  const { roomTypeId, issuePartner } = await open();
  const keys = await Promise.all(Array.from({ length: NEIGHBOUR_KEYS }, issuePartner));
  return { env, neighbour, hog, usual: { control: control.url, keys, roomTypeId }, openTenant: open, closers };
}
