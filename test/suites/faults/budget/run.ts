import { once } from 'node:events';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '#platform/db/database.ts';
import type { MenuDocument } from '#restaurant/menu/schema.ts';
import { startChild } from '../../../../bench/child.ts';
import { newFolder } from '../../../support/command.ts';
import { sampleMenu } from '../../../support/tenants.ts';
import { startPostgres } from '../postgres.ts';
import { ServiceProcess } from '../service-process.ts';
import type { Outcome } from './call.ts';
import type { BudgetCase } from './cases.ts';
import type { Reading } from './gauge.ts';
import type { HogTask } from './hog.ts';
import { openTenant } from './house.ts';
import type { NeighbourTask, SeenOfBoth } from './neighbour.ts';
import { breaches, FULL, GROWTH_MIB, type Measured, rowOf, SHORT, timesOf } from './verdict.ts';

const FOLDER = '../test/suites/faults/budget';
const GAUGE = join(import.meta.dirname, 'gauge.ts');
const READ_TIMEOUT_MS = 30_000;
/** Credentials of the neighbour. Fewer would not have enough budget for its twenty calls per second. */
const NEIGHBOUR_KEYS = 5;
/** Measurements of a case whose results break a guarantee. A busy machine may cause a bad one, but a fault of the service makes all bad. */
const TRIES = 2;

/** Durations of the phases of a case. The calls of the busy tenant take from `leastMs` to `mostMs`. */
const FULL_LENGTHS = { warmUpMs: 4_000, leastMs: 12_000, mostMs: 45_000 };
const SHORT_LENGTHS: typeof FULL_LENGTHS = { warmUpMs: 1_500, leastMs: 4_000, mostMs: 10_000 };

interface BudgetOptions {
  closers: AsyncDisposableStack;
  isShort: boolean;
  print: (line: string) => void;
}

/**
 * Runs the test cases in which one tenant uses its whole budget of calls.
 * @returns true if no case breaks a guarantee
 */
export async function runBudgets(cases: readonly BudgetCase[], options: BudgetOptions): Promise<boolean> {
  const { closers, isShort, print } = options;
  const goals = isShort ? SHORT : FULL;
  const stage = await openStage(closers);
  const rows: Record<string, object> = {};
  let broken = 0;
  for (const each of cases) {
    let measured = await runCase(stage, each, isShort);
    for (let tries = 1; tries < TRIES && breaches(measured, goals).length > 0; tries += 1) {
      print(`${each.name}: ${breaches(measured, goals).join('; ')}. It is measured again.`);
      measured = await runCase(stage, each, isShort);
    }
    const found = breaches(measured, goals);
    print(`${each.name} (${each.what}): ${found.join('; ') || 'no promise is broken'}`);
    rows[each.name] = rowOf(measured);
    broken += found.length === 0 ? 0 : 1;
  }
  console.table(rows);
  console.log(`${broken} of ${cases.length} cases break a promise`);
  return broken === 0;
}

type Stage = Awaited<ReturnType<typeof openStage>>;

/**
 * Starts the database, the control process, and the programs that simulate the busy tenant (hog) and its neighbour. The control process
 * fills tenants with data before a case. During the case, it gets only the usual calls of the neighbour.
 */
async function openStage(closers: AsyncDisposableStack) {
  const postgres = await startPostgres(await newFolder(), closers);
  const env = {
    DATABASE_URL: postgres.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    TRUSTED_PROXIES: '127.0.0.1',
  };
  const control = newNode('control', { ...env, RATE_LIMIT_PER_MINUTE: '1000000000' });
  closers.defer(() => control.kill());
  await control.start();
  const db = closers.adopt(createDatabase({ url: postgres.url, poolSize: 2, hasNoTimeLimit: true }), (each) =>
    each.destroy(),
  );
  const neighbour = closers.use(startChild<NeighbourTask | 'take' | 'rest', SeenOfBoth>(`${FOLDER}/neighbour.ts`));
  const hog = closers.use(startChild<HogTask, Outcome[]>(`${FOLDER}/hog.ts`));
  const open = async (menu: MenuDocument = sampleMenu()) => await openTenant(db, control.url, menu);
  const { roomTypeId, issuePartner } = await open();
  const keys = await Promise.all(Array.from({ length: NEIGHBOUR_KEYS }, issuePartner));
  return { env, neighbour, hog, usual: { control: control.url, keys, roomTypeId }, openTenant: open };
}

/** Returns a process with the settings of `npm start`, which is not started yet. */
function newNode(name: string, env: Record<string, string>): ServiceProcess {
  const settings = {
    NODE_OPTIONS: `--max-semi-space-size=16 --import=${GAUGE} --disable-warning=ExperimentalWarning`,
    MALLOC_MMAP_THRESHOLD_: '65536',
    LOG_LEVEL: 'warn',
  };
  const onDeath = (lines: string[]) => console.error(lines.join('\n'));
  return new ServiceProcess({ name, args: [], env: { ...settings, ...env }, onLogLine: () => {}, onDeath });
}

/** Measures one case: the calls of a new busy tenant, and those of its neighbour meanwhile. */
async function runCase(stage: Stage, each: BudgetCase, isShort: boolean): Promise<Measured> {
  const { load, mustAnswer = false, growthMiB: allowedGrowthMiB = GROWTH_MIB } = each;
  const { warmUpMs, leastMs, mostMs } = isShort ? SHORT_LENGTHS : FULL_LENGTHS;
  const tenant = await stage.openTenant(each.menu?.());
  const calls = await each.prepare(tenant);
  const node = newNode(each.name, stage.env);
  try {
    await node.start();
    await stage.neighbour.ask({ ...stage.usual, service: node.url });
    await sleep(warmUpMs);
    const [before] = await Promise.all([read(node), stage.neighbour.ask('take')]);
    const task = { url: node.url, calls, keys: tenant.keys, load, limitMs: mostMs };
    const [outcomes] = await Promise.all([stage.hog.ask(task), sleep(leastMs)]);
    const after = await read(node);
    const { service, control } = await stage.neighbour.ask('rest');
    return {
      hog: timesOf(outcomes),
      mustAnswer,
      other: timesOf(service.calls),
      control: timesOf(control.calls),
      livez: timesOf(service.livez),
      controlLivez: timesOf(control.livez),
      heldMs: Math.round(after.heldMs),
      memoryMiB: { before: before.residentMiB, peak: after.peakMiB },
      allowedGrowthMiB,
      hasEnded: node.child?.connected !== true,
    };
  } finally {
    await stage.neighbour.ask('rest');
    await node.kill();
  }
}

/** Returns the measurements of a process since the previous call. If it does not respond, its event loop counts as held. */
async function read({ child }: ServiceProcess): Promise<Reading> {
  const unreadable = { heldMs: READ_TIMEOUT_MS, residentMiB: 0, peakMiB: 0 };
  if (child?.connected !== true) {
    return unreadable;
  }
  child.send('read', () => {});
  const answered = once(child, 'message', { signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
  return await answered.then(
    ([reading]) => reading as Reading,
    () => unreadable,
  );
}
