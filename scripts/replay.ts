// npm run replay -- FILE [--most N]: drives real hotel bookings through a service of its own, on an embedded database in a
// temporary folder, and holds every answer and every night against an independent count.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readBookings } from './replay/bookings.ts';
import { type Actors, type Call, driveLane, lanesOf, newTally, propertiesOf, type Tally } from './replay/drive.ts';
import { type Applied, runCommand, startServe } from './replay/service.ts';

const PROGRESS_EVERY_MS = 2_000;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { most: { type: 'string' } } });
const [file] = positionals;
if (file === undefined) {
  console.error('usage: npm run replay -- FILE [--most N]');
  process.exit(2);
}
const dataDir = await mkdtemp(join(tmpdir(), 'roomservice-replay-'));
try {
  const tally = await replay(await readFile(file, 'utf8'), Number(values.most ?? Number.POSITIVE_INFINITY));
  process.exitCode = tally.faults.length === 0 ? 0 : 1;
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

async function replay(csv: string, most: number): Promise<Tally> {
  const bookings = readBookings(csv, new Date().toISOString().slice(0, 10), most);
  const lanes = lanesOf(bookings);
  const service = await startServe(dataDir);
  try {
    const password = randomBytes(12).toString('hex');
    const applied = await applyTenant(lanes, password);
    const actors = await signIn(service.call, password);
    const tally = newTally();
    const steps = lanes.reduce((sum, lane) => sum + lane.steps.length, 0);
    const startedAt = Date.now();
    let done = 0;
    const progress = setInterval(() => console.log(describeProgress(done, steps, startedAt)), PROGRESS_EVERY_MS);
    await Promise.all(
      lanes.map((lane) => driveLane(service.call, actors, lane, idOf(applied, lane), tally, () => (done += 1))),
    );
    clearInterval(progress);
    const seconds = (Date.now() - startedAt) / 1000;
    summarise(tally, bookings.length, steps, seconds);
    console.log(await runCommand(dataDir, ['nights', 'verify']));
    return tally;
  } finally {
    await service.stop();
  }
}

async function applyTenant(lanes: Parameters<typeof propertiesOf>[0], password: string): Promise<Applied> {
  const path = join(dataDir, 'replay-tenant.json');
  const document = {
    slug: 'replay',
    name: 'Replay',
    currency: 'EUR',
    timezone: 'Europe/Lisbon',
    features: ['hotel'],
    users: [{ email: 'owner@replay.example', password, role: 'owner' }],
    properties: propertiesOf(lanes),
  };
  await writeFile(path, JSON.stringify(document));
  return JSON.parse(await runCommand(dataDir, ['tenant', 'apply', path, '--json'])) as Applied;
}

async function signIn(call: Call, password: string): Promise<Actors> {
  const token = await call('POST', '/v1/auth/token/', {}, { email: 'owner@replay.example', password });
  const staff = { authorization: `Bearer ${(token.body as { access_token: string }).access_token}` };
  const issue = async (path: string) =>
    (await call('POST', path, staff, { label: 'replay' })).body as { api_key: string; api_secret: string };
  const partner = await issue('/v1/third-party/credentials/');
  const pms = await issue('/v1/channel-manager/credentials/');
  return {
    staff,
    partner: { 'x-api-key': partner.api_key, 'x-api-secret': partner.api_secret },
    pms: { 'x-pms-api-key': pms.api_key, 'x-pms-api-secret': pms.api_secret },
  };
}

function idOf(applied: Applied, lane: { hotel: string; roomType: string }): string {
  const property = applied.properties.find(({ name }) => name === lane.hotel);
  const roomType = property?.room_types.find(({ name }) => name === lane.roomType);
  if (roomType === undefined) {
    throw new Error(`the tenant has no room type ${lane.hotel} ${lane.roomType}`);
  }
  return roomType.id;
}

function describeProgress(done: number, steps: number, startedAt: number): string {
  const rate = Math.round((done * 1000) / (Date.now() - startedAt));
  return `${done} of ${steps} steps (${Math.floor((100 * done) / steps)} %), ${rate} a second`;
}

function summarise(tally: Tally, bookings: number, steps: number, seconds: number): void {
  console.log(`
${bookings} bookings, ${steps} steps in ${seconds.toFixed(1)} s: ${Math.round(steps / seconds)} steps a second
  created          ${tally.created}
  refused          ${tally.refused} (every one with a full night at that moment)
  without nights   ${tally.withoutNights} (400)
  cancelled        ${tally.cancelled}
  completed        ${tally.completed}
  no-show          ${tally.noShow}
  oversold nights: ${tally.oversoldNights} of ${tally.nightsCompared} compared
  faults: ${tally.faults.length}${tally.faults.slice(0, 20).map((fault) => `\n    ${fault}`).join('')}`);
}
