import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeCertificate } from '../support/certificate.ts';
import { cleanUp, type Ended, newFolder, runCommand } from '../support/command.ts';
import { createRedis, findRedis, type Redis } from '../support/redis.ts';
import { Balancer } from './balancer.ts';
import { type Actor, Client, Load } from './client.ts';
import { channelActor } from './actors/channels.ts';
import { credentialActor } from './actors/credentials.ts';
import { Follower, followingActor } from './actors/followers.ts';
import { orderActor } from './actors/orders.ts';
import { budgetActor, readingActor } from './actors/readers.ts';
import { raceActor, stayActor } from './actors/stays.ts';
import { DatabaseLink } from './database-link.ts';
import type { Findings } from './findings.ts';
import { History } from './history.ts';
import { observe } from './observer.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import type { Random } from './random.ts';
import { type Hook, PostLog, startHook, startImpostor, unreliableAnswer } from './receivers.ts';
import { ServiceProcess } from './service-process.ts';
import { makePartner, makeTenant, type Partner, type Tenant } from './tenants.ts';
import { mountVolume, type Volume } from './volume.ts';

const TENANTS = 3;
const RECEIVERS = 50;
/** Number of receivers that misbehave during some faults. They come first in the list of receivers, and never count as healthy. */
const FAILING_RECEIVERS = 10;
/** Number of healthy receivers that sometimes refuse an event. */
const UNRELIABLE_RECEIVERS = 10;
/**
 * Indexes of the partners that also read their event feed. One has a receiver that misbehaves during some faults, one has an unreliable
 * receiver, and one has a reliable receiver.
 */
const FOLLOWING = [0, FAILING_RECEIVERS, FAILING_RECEIVERS + UNRELIABLE_RECEIVERS];
const ACTORS = { orders: 6, stays: 3, channels: 2, readers: 3 };

/** All running parts of the suite, and everything that the suite knows about them. */
export interface World {
  folder: string;
  random: Random;
  findings: Findings;
  history: History;
  posts: PostLog;
  postgres: Postgres;
  volume: Volume | undefined;
  redis: Redis | undefined;
  apis: [ServiceProcess, ServiceProcess];
  workers: [ServiceProcess, ServiceProcess];
  balancer: Balancer;
  client: Client;
  load: Load;
  tenants: Tenant[];
  /** Partners, one for each receiver, in the order of the receivers. */
  partners: Partner[];
  /** Receivers that misbehave during some faults. */
  failingHooks: Hook[];
  followers: Follower[];
  /** Port of a receiver whose certificate the service does not trust. */
  impostorPort: number;
  /** Partners whose webhook secret the suite knows and whose deliveries it can check, by credential id. */
  knownPartners: Map<string, Partner>;
  /** Partner whose deliveries the faults observe one by one, and its receiver. */
  witness: { partner: Partner; hook: Hook };
  /** Starts an additional process of the service, which runs until the end of the run. */
  newProcess(name: string, only: 'api' | 'worker' | null): Promise<ServiceProcess>;
  /** Runs a `roomservice` command while the suite runs. */
  command(args: string[]): Promise<Ended>;
  /** Starts an additional receiver, which runs until the end of the run. */
  newHook(): Promise<Hook>;
  close(): Promise<void>;
}

/** Returns the URLs of the healthy receivers. */
export function healthyUrls({ partners }: World): Set<string> {
  return new Set(partners.slice(FAILING_RECEIVERS).map(({ webhookUrl }) => webhookUrl));
}

export function processesOf({ apis, workers }: World): ServiceProcess[] {
  return [...apis, ...workers];
}

/**
 * Starts the database, the processes, the receivers, the tenants and the clients. The clients wait until `load.go()`.
 */
export async function openWorld(random: Random, findings: Findings): Promise<World> {
  const closers: Closers = [cleanUp];
  const close = async () => {
    for (const closer of closers.toReversed()) {
      await closer();
    }
  };
  try {
    return await build(random, findings, closers, close);
  } catch (error) {
    await close();
    throw error;
  }
}

type Closers = (() => unknown)[];

async function build(random: Random, findings: Findings, closers: Closers, close: () => Promise<void>): Promise<World> {
  const folder = await newFolder();
  const volume = await mountVolume(folder);
  closers.push(() => volume?.unmount());
  const postgres = await startPostgres(volume?.folder ?? folder);
  closers.push(() => postgres.close());
  const redis = await startRedis();
  closers.push(() => redis?.close());
  const { env, posts, newHook, impostorPort } = await prepareReceivers(folder, closers);
  const serviceEnv = { ...env, DATABASE_URL: postgres.url, ...(redis === undefined ? {} : { REDIS_URL: redis.url }) };

  const history = new History();
  const logWatch = new LogWatch();
  const newProcess = processMaker(postgres, serviceEnv, { findings, logWatch, closers });
  const apis: World['apis'] = [await newProcess('api 1', 'api'), await newProcess('api 2', 'api')];
  const workers: World['workers'] = [await newProcess('worker 1', 'worker'), await newProcess('worker 2', 'worker')];
  await observe(postgres);
  const balancer = new Balancer(apis.map(({ url }) => url));
  await balancer.listen();
  closers.push(() => balancer.close());

  const tenants = await makeTenants(balancer.url, serviceEnv, folder);
  const { hooks, partners } = await registerReceivers(balancer.url, tenants, newHook);
  const witness = await makeWitness(balancer.url, tenants, newHook);
  const knownPartners = new Map([...partners, witness.partner].map((partner) => [partner.credentialId, partner]));
  const markers = tenants.map(({ marker }) => marker);
  const client = new Client(balancer.url, history, markers);
  logWatch.start(client, tenants);
  const load = new Load(random);
  closers.push(() => load.end());
  const machines = { folder, volume, postgres, redis, apis, workers, newProcess, balancer };
  const followers = FOLLOWING.flatMap((place) => partners[place] ?? []).map((partner) => new Follower(partner));
  const command = (args: string[]) => runCommand(args, { env: serviceEnv });
  const people = { tenants, partners, knownPartners, witness, client, load, followers, command };
  const receivers = { posts, failingHooks: hooks.slice(0, FAILING_RECEIVERS), impostorPort, newHook };
  const world: World = { random, findings, history, ...machines, ...people, ...receivers, close };
  load.start(await castActors(world), (error) => findings.violation('suite', String(error)));
  return world;
}

/**
 * Prepares the receivers.
 * @returns the environment variables with which the service can deliver to the receivers, the log of POSTs, a function that starts a
 * receiver, and the port of a receiver whose certificate the service does not trust
 */
async function prepareReceivers(folder: string, closers: Closers) {
  const certificate = await makeCertificate();
  const certificatePath = join(folder, 'certificate.pem');
  await writeFile(certificatePath, certificate.cert);
  const impostor = await startImpostor();
  closers.push(() => impostor.close());
  const posts = new PostLog();
  const env = {
    MASTER_KEY: randomBytes(32).toString('base64'),
    NODE_EXTRA_CA_CERTS: certificatePath,
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
  };
  const newHook = async () => {
    const hook = await startHook(certificate, posts);
    closers.push(() => hook.close());
    return hook;
  };
  return { env, posts, newHook, impostorPort: impostor.port };
}

async function makeTenants(url: string, env: Record<string, string>, folder: string): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  for (let made = 0; made < TENANTS; made += 1) {
    tenants.push(await makeTenant(url, env, folder));
  }
  return tenants;
}

async function startRedis(): Promise<Redis | undefined> {
  const program = findRedis();
  const redis = program === undefined ? undefined : await createRedis(program);
  await redis?.start();
  return redis;
}

function processMaker(
  postgres: Postgres,
  env: Record<string, string>,
  { findings, logWatch, closers }: { findings: Findings; logWatch: LogWatch; closers: Closers },
): World['newProcess'] {
  return async (name, only) => {
    const link = new DatabaseLink(postgres.socketPath);
    await link.listen();
    const process = new ServiceProcess({
      name,
      only,
      link,
      env: { ...env, DATABASE_URL: postgres.urlThrough(link.port) },
      onLogLine: (from, line) => logWatch.take(from, line),
      onDeath: (from, lines) =>
        findings.violation('processes do not end by themselves', `${from} ended by itself`, lines.join('\n')),
    });
    closers.push(
      () => link.close(),
      () => process.kill(),
    );
    await process.start();
    return process;
  };
}

async function registerReceivers(url: string, tenants: Tenant[], newHook: () => Promise<Hook>) {
  const hooks: Hook[] = [];
  const partners: Partner[] = [];
  for (let made = 0; made < RECEIVERS; made += 1) {
    const hook = await newHook();
    const tenant = tenants[made % tenants.length];
    if (tenant === undefined) {
      throw new Error('The world has no tenants.');
    }
    if (made >= FAILING_RECEIVERS && made < FAILING_RECEIVERS + UNRELIABLE_RECEIVERS) {
      hook.answer = unreliableAnswer;
    }
    hooks.push(hook);
    partners.push(await makePartner(url, tenant, hook.url));
  }
  return { hooks, partners };
}

async function makeWitness(url: string, tenants: Tenant[], newHook: () => Promise<Hook>): Promise<World['witness']> {
  const hook = await newHook();
  const [tenant] = tenants;
  if (tenant === undefined) {
    throw new Error('The world has no tenants.');
  }
  return { hook, partner: await makePartner(url, tenant, hook.url) };
}

async function castActors(world: World): Promise<Actor[]> {
  const { client, partners, tenants, random, apis, followers } = world;
  const refusing = await world.newHook();
  refusing.answer = () => 503;
  const budgeted = await makePartner(world.balancer.url, world.witness.partner.tenant, refusing.url);
  const nodes = () =>
    apis.map(({ name, url, pid }) => ({ name, url, counter: world.redis ? 'redis' : `${name} ${pid}` }));
  const several = (count: number, make: () => Actor) => Array.from({ length: count }, make);
  return [
    ...several(ACTORS.orders, () => orderActor(client, partners, random)),
    ...several(ACTORS.stays, () => stayActor(client, partners, random)),
    ...several(ACTORS.channels, () => channelActor(client, tenants, random)),
    ...several(ACTORS.readers, () => readingActor(client, partners, random)),
    followingActor(client, followers),
    raceActor(client, partners, random),
    credentialActor({ client, tenants, random, nodes, refusingUrl: refusing.url }),
    budgetActor(client, budgeted, nodes),
  ];
}

/** Searches every log line of a tenant for texts of other tenants. */
class LogWatch {
  #client: Client | null = null;
  #markerOf = new Map<number, string>();

  start(client: Client, tenants: Tenant[]): void {
    this.#client = client;
    this.#markerOf = new Map(tenants.map(({ id, marker }) => [id, marker]));
  }

  take(process: string, line: string): void {
    const tenantId = Number(/"tenant_id":(\d+)/.exec(line)?.[1]);
    const marker = this.#markerOf.get(tenantId);
    if (marker !== undefined) {
      this.#client?.findLeak(marker, line, `the log of ${process}`);
    }
  }
}

/**
 * Waits until the condition is true.
 * @returns the duration in milliseconds, or undefined if the condition is still false after the time limit
 */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  everyMs = 20,
): Promise<number | undefined> {
  const beganAtMs = performance.now();
  while (performance.now() - beganAtMs < timeoutMs) {
    if (await condition()) {
      return performance.now() - beganAtMs;
    }
    await sleep(everyMs);
  }
  return undefined;
}
