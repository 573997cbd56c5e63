// npm run replay -- FILE [--most N]
// Starts a service with an embedded database in a temporary folder, and sends it the hotel bookings of FILE, at most N of them. Counts the
// held rooms of each night itself. Uses this count to check if the service accepts and refuses the right bookings. At the end, compares
// the count with the number of held rooms that the service reports for each night.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readTextFile } from '#platform/lib/text-file.ts';
import { type Booking, type Lane, lanesOf, readBookings } from './replay/bookings.ts';
import { type Call, drive, type Driven, openActors, type Outcome, propertiesOf } from './replay/drive.ts';
import { Progress } from './replay/progress.ts';
import { runCommand, startServe } from './replay/service.ts';
import { type Verdict, verify } from './replay/verify.ts';

const SHOWN_FAULTS = 20;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { most: { type: 'string' } } });
const [file] = positionals;
const most = values.most === undefined ? Number.POSITIVE_INFINITY : Number(values.most);
if (file === undefined || !(most >= 1)) {
  console.error('Usage: npm run replay -- FILE [--most N], where N is a number of bookings of at least 1.');
  process.exit(2);
}
const bookings = readBookings(await readTextFile(file), new Date().toISOString().slice(0, 10), most);
const dataDir = await mkdtemp(join(tmpdir(), 'roomservice-replay-'));
try {
  process.exitCode = (await replay(bookings)) ? 0 : 1;
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

/**
 * Sends all bookings to a new service. Checks each response and the final state of the service.
 * @returns true if no check found a fault
 */
async function replay(all: Booking[]): Promise<boolean> {
  const lanes = lanesOf(all);
  const service = await startServe(dataDir);
  const interrupted = new Promise<never>((_, reject) => {
    process.once('SIGINT', () => reject(new Error('SIGINT interrupted the replay.')));
    process.once('SIGTERM', () => reject(new Error('SIGTERM ended the replay.')));
  });
  try {
    return await Promise.race([driveAndVerify(service.call, all, lanes), interrupted]);
  } finally {
    await service.stop();
  }
}

async function driveAndVerify(call: Call, all: Booking[], lanes: Lane[]): Promise<boolean> {
  const actors = await openActors(call, await signIn(call, lanes));
  const progress = new Progress(lanes.reduce((sum, { steps }) => sum + steps.length, 0));
  const driven = await drive(actors, lanes, () => progress.step()).finally(() => progress.end());
  console.log(`${all.length} bookings of ${lanes.length} room types, ${progress.describe()}`);
  const verdict = await verify(actors, driven);
  const faults = [...driven.flatMap((lane) => lane.faults), ...verdict.faults];
  summarise(driven, verdict, faults);
  // A night counter of the service stores the number of rooms held in one night of one room type. `nights verify` compares these counters
  // with the stored reservations. The command fails with a message if a counter is wrong.
  console.log(await runCommand(dataDir, ['nights', 'verify']));
  return faults.length === 0;
}

/**
 * Makes the tenant and signs in as its owner.
 * @returns the headers that authenticate the owner's calls
 */
async function signIn(call: Call, lanes: Lane[]): Promise<Record<string, string>> {
  const owner = { email: 'owner@replay.example', password: randomBytes(12).toString('hex') };
  const document = {
    slug: 'replay',
    name: 'Replay',
    currency: 'EUR',
    timezone: 'Europe/Lisbon',
    features: ['hotel'],
    users: [{ ...owner, role: 'owner' }],
    properties: propertiesOf(lanes),
  };
  const path = join(dataDir, 'replay-tenant.json');
  await writeFile(path, JSON.stringify(document));
  await runCommand(dataDir, ['tenant', 'apply', path]);
  const { body } = await call('POST', '/v1/auth/token/', { headers: {}, json: owner });
  return { authorization: `Bearer ${(body as { access_token: string }).access_token}` };
}

function summarise(all: Driven[], verdict: Verdict, faults: string[]): void {
  const outcomes = all.flatMap((driven) => [...driven.outcomes.values()]);
  const count = (...wanted: Outcome[]) => outcomes.filter((outcome) => wanted.includes(outcome)).length;
  console.log(`
  created          ${count('confirmed', 'cancelled', 'completed', 'no_show')}
  refused          ${count('refused')}, each because a night was full
  without nights   ${count('without nights')}, refused with 400
  cancelled        ${count('cancelled')}
  completed        ${count('completed')}
  no-show          ${count('no_show')}
  oversold nights: ${verdict.oversoldNights} of ${verdict.nightsCompared} compared
  faults: ${faults.length}`);
  for (const fault of faults.slice(0, SHOWN_FAULTS)) {
    console.log(`    ${fault}`);
  }
}
