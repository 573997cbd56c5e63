import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeCertificate } from '../../support/certificate.ts';
import { type CommandOptions, newFolder } from '../../support/command.ts';
import type { Redis } from '../../support/redis.ts';
import { type Actor, Client, Load } from './client.ts';
import { channelActor } from './actors/channels.ts';
import { credentialActor } from './actors/credentials.ts';
import { Follower, followingActor } from './actors/followers.ts';
import { orderActor } from './actors/orders.ts';
import { budgetActor, readingActor } from './actors/readers.ts';
import { raceActor, stayActor } from './actors/stays.ts';
import type { Closers } from './closers.ts';
import type { Database } from './database.ts';
import { DatabaseLink, type Target } from './database-link.ts';
import type { Findings } from './findings.ts';
import { History } from './history.ts';
import { observe } from './observer.ts';
import type { Random } from './random.ts';
import { type Hook, PostLog, startHook, startImpostor, unreliableAnswer } from './receivers.ts';
import { ServiceProcess } from './service-process.ts';
import { makePartner, makeTenant, type Partner, type Tenant } from './tenants.ts';

const TENANTS = 3;
const RECEIVERS = 50;
/** Number of receivers that misbehave during some faults. They come first in the list of receivers, and never count as healthy. */
const FAILING_RECEIVERS = 10;
/** Number of healthy receivers that sometimes refuse an event. */
const UNRELIABLE_RECEIVERS = 10;
/**
 * Indexes of the partners that also read their event feed. The first partner has a receiver that misbehaves during some faults. The second
 * has an unreliable receiver, and the third has a reliable receiver.
 */
const FOLLOWING = [0, FAILING_RECEIVERS, FAILING_RECEIVERS + UNRELIABLE_RECEIVERS];
const ACTORS = { orders: 6, stays: 3, channels: 2, readers: 3 };

/**
 * Processes of the service in one installation, and the servers that they use. The installation is a simple one (`Surroundings`) or a
 * cluster (`Cluster`).
 */
export interface Machines {
  postgres: Database;
  redis: Redis | undefined;
  apis: [ServiceProcess, ServiceProcess];
  workers: [ServiceProcess, ServiceProcess];
  /** Load balancer in front of the API processes. */
  balancer: { readonly url: string };
  /** Environment and program for `roomservice` commands that the suite runs while the processes of the service run. */
  command: CommandOptions;
}

/**
 * State of one run of the suite: the servers and processes, the receivers, the tenants, the simulated clients, and the records of their
 * calls.
 */
export interface World extends Machines {
  random: Random;
  findings: Findings;
  history: History;
  posts: PostLog;
  client: Client;
  load: Load;
  tenants: Tenant[];
  /** Partners, one for each receiver, in the order of the receivers. */
  partners: Partner[];
  /**
   * Partner whose budget of calls the suite checks. It is null during a fault of Redis and for some time after it, because the suite then
   * does not know how many calls the service has counted.
   */
  budgeted: Partner | null;
  /** Receivers that misbehave during some faults. */
  failingHooks: Hook[];
  followers: Follower[];
  /** Port of a receiver whose certificate the service does not trust. */
  impostorPort: number;
  /** Partners whose webhook secret the suite knows and whose deliveries it can check, by credential id. */
  knownPartners: Map<string, Partner>;
  /** Partner, with its receiver, for faults that watch a single delivery, for example to kill a worker during this delivery. */
  witness: { partner: Partner; hook: Hook };
  /** Starts an additional receiver, which runs until the end of the run. */
  newHook(): Promise<Hook>;
}

/** Data and functions that a run has before the servers and the processes of the service start. */
export interface Stage {
  /** Temporary folder of the run. */
  folder: string;
  closers: Closers;
  findings: Findings;
  history: History;
  /**
   * Environment variables for each process of the service. They set its master key, let it trust the certificate of the receivers, and
   * allow webhooks to local addresses.
   */
  env: Record<string, string>;
  /**
   * Creates a process of the service with its own proxy to the database. The caller must start the process. The process is killed at the
   * end of the run.
   */
  newProcess(options: NewProcess): Promise<ServiceProcess>;
}

interface NewProcess {
  name: string;
  /** Value of `serve --only`; null runs the API and the worker. */
  only: 'api' | 'worker' | null;
  /** Address of the database or of its pooler. */
  database: Target;
  /** Returns the environment variables of the process, except the variables for its ports. `port` is the port of its database proxy. */
  env: (port: number) => Record<string, string>;
}

/** Returns the URLs of the healthy receivers. */
export function healthyUrls({ partners }: World): Set<string> {
  return new Set(partners.slice(FAILING_RECEIVERS).map(({ webhookUrl }) => webhookUrl));
}

export function processesOf({ apis, workers }: World): ServiceProcess[] {
  return [...apis, ...workers];
}

/**
 * Starts the receivers, the servers and processes, the tenants and the clients. The clients wait until `load.go()`. `closers.close()` ends
 * all of them, also if the start has failed.
 * @param startMachines starts the servers and the processes of the service
 */
export async function openWorld<Started extends Machines>(
  { random, findings, closers }: { random: Random; findings: Findings; closers: Closers },
  startMachines: (stage: Stage) => Promise<Started>,
): Promise<World & Started> {
  const folder = await newFolder();
  const history = new History();
  const { env, posts, newHook, impostorPort } = await prepareReceivers(folder, closers);
  const logWatch = new LogWatch();
  const newProcess = processMaker(findings, logWatch, closers);
  const machines = await startMachines({ folder, closers, findings, history, env, newProcess });
  const { url } = machines.balancer;
  await observe(machines.postgres);

  const tenants = await makeTenants(url, machines.command, folder);
  const { hooks, partners } = await registerReceivers(url, tenants, newHook);
  const witness = await makeWitness(url, tenants, newHook);
  const knownPartners = new Map([...partners, witness.partner].map((partner) => [partner.credentialId, partner]));
  const markers = tenants.map(({ marker }) => marker);
  const client = new Client(url, history, markers);
  logWatch.start(client, tenants);
  const load = new Load(random);
  closers.add(() => load.end());
  const followers = FOLLOWING.flatMap((place) => partners[place] ?? []).map((partner) => new Follower(partner));
  const refusing = await newHook();
  refusing.answer = () => 503;
  const budgeted = await makePartner(url, witness.partner.tenant, refusing.url);
  const people = { tenants, partners, knownPartners, witness, budgeted, client, load, followers };
  const receivers = { posts, failingHooks: hooks.slice(0, FAILING_RECEIVERS), impostorPort, newHook };
  const world: World & Started = { random, findings, history, ...machines, ...people, ...receivers };
  load.start(castActors(world, refusing.url), (error) => findings.violation('suite', String(error)));
  return world;
}

/**
 * Prepares the receivers.
 * @returns four values: environment variables with which the service can deliver to the receivers, the log of POSTs, a function that starts
 * a receiver, and the port of a receiver whose certificate the service does not trust
 */
async function prepareReceivers(folder: string, closers: Closers) {
  const certificate = await makeCertificate();
  const certificatePath = join(folder, 'certificate.pem');
  await writeFile(certificatePath, certificate.cert);
  const impostor = await startImpostor();
  closers.add(() => impostor.close());
  const posts = new PostLog();
  const env = {
    MASTER_KEY: randomBytes(32).toString('base64'),
    NODE_EXTRA_CA_CERTS: certificatePath,
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
  };
  const newHook = async () => {
    const hook = await startHook(certificate, posts);
    closers.add(() => hook.close());
    return hook;
  };
  return { env, posts, newHook, impostorPort: impostor.port };
}

async function makeTenants(url: string, command: CommandOptions, folder: string): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  for (let made = 0; made < TENANTS; made += 1) {
    tenants.push(await makeTenant(url, command, folder));
  }
  return tenants;
}

function processMaker(findings: Findings, logWatch: LogWatch, closers: Closers): Stage['newProcess'] {
  return async ({ name, only, database, env }) => {
    const link = new DatabaseLink(database);
    await link.listen();
    closers.add(() => link.close());
    const process = new ServiceProcess({
      name,
      only,
      link,
      env: env(link.port),
      onLogLine: (from, line) => logWatch.take(from, line),
      onDeath: (from, lines) =>
        findings.violation('processes do not end by themselves', `${from} ended by itself`, lines.join('\n')),
    });
    closers.add(() => process.kill());
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

function castActors(world: World, refusingUrl: string): Actor[] {
  const { client, partners, tenants, random, apis, followers } = world;
  const several = (count: number, make: () => Actor) => Array.from({ length: count }, make);
  return [
    ...several(ACTORS.orders, () => orderActor(client, partners, random)),
    ...several(ACTORS.stays, () => stayActor(client, partners, random)),
    ...several(ACTORS.channels, () => channelActor(client, tenants, random)),
    ...several(ACTORS.readers, () => readingActor(client, partners, random)),
    followingActor(client, followers),
    raceActor(client, partners, random),
    credentialActor({ client, tenants, random, nodes: () => apis, refusingUrl }),
    budgetActor(world),
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
