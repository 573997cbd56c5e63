import { randomBytes } from 'node:crypto';
import { createDatabase } from '#platform/db/database.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { newCertificateFile, newFolder } from '../../support/command.ts';
import { startReceiver } from '../../support/receiver.ts';
import { channelActor } from './actors/channels.ts';
import { credentialActor } from './actors/credentials.ts';
import { Follower, followingActor } from './actors/followers.ts';
import { orderActor } from './actors/orders.ts';
import { budgetActor, readingActor } from './actors/readers.ts';
import { raceActor, stayActor } from './actors/stays.ts';
import { type Actor, Client, Load } from './client.ts';
import type { Database } from './database.ts';
import type { Findings } from './findings.ts';
import { History } from './history.ts';
import { observe } from './observer.ts';
import { type Target, TcpProxy } from './proxy.ts';
import { Random } from './random.ts';
import { Hook, PostLog, unreliableAnswer } from './receivers.ts';
import { ServiceProcess } from './service-process.ts';
import { makePartner, makeTenant, type Partner, type Tenant } from './tenants.ts';
import { FAILING_RECEIVERS, type LinkedProcess, type Machines, type World } from './world.ts';

const TENANTS = 3;
const RECEIVERS = 50;
/** Number of healthy receivers that sometimes refuse an event. */
const UNRELIABLE_RECEIVERS = 10;
/** Indexes of the partners that also read their event feed: one with a misbehaving, an unreliable and a reliable receiver each. */
const FOLLOWING = [0, FAILING_RECEIVERS, FAILING_RECEIVERS + UNRELIABLE_RECEIVERS];

/** What exists before the servers and the processes of the service start. */
export interface Stage {
  folder: string;
  closers: AsyncDisposableStack;
  env: Record<string, string>;
  /** Starts a process of the service with its own proxy to the database. */
  newProcess: (options: NewProcess) => Promise<LinkedProcess>;
}

interface NewProcess {
  name: string;
  args: string[];
  /** Address of the database or of its pooler. */
  database: Target;
  /** Returns the environment variables of the process. `port` is the port of its database proxy. */
  env: (port: number) => Record<string, string>;
}

export async function startProcesses(
  start: (name: string, args: string[]) => Promise<LinkedProcess>,
): Promise<Pick<Machines, 'apis' | 'workers'>> {
  const begin = async (only: 'api' | 'worker', number: number) => await start(`${only} ${number}`, ['--only', only]);
  return {
    apis: [await begin('api', 1), await begin('api', 2)],
    workers: [await begin('worker', 1), await begin('worker', 2)],
  };
}

/**
 * Starts the receivers, the servers and processes, the tenants and the clients. The clients wait until `load.go()`.
 * @param startMachines starts the servers and the processes of the service
 */
export async function openWorld<Started extends Machines>(
  { findings, closers }: { findings: Findings; closers: AsyncDisposableStack },
  startMachines: (stage: Stage) => Promise<Started>,
): Promise<World & Started> {
  const [random, history, posts] = [new Random(Date.now()), new History(), new PostLog()];
  const { certificate, path } = await newCertificateFile();
  const newHook = async () => {
    const hook = new Hook(await startReceiver({ certificate }), posts);
    closers.defer(() => hook.close());
    await hook.proxy.listen();
    return hook;
  };
  const impostor = await startReceiver({ certificate: await makeCertificate() });
  closers.defer(() => impostor.close());
  const env = {
    MASTER_KEY: randomBytes(32).toString('base64'),
    NODE_EXTRA_CA_CERTS: path,
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
  };
  const onLogLine = (process: string, line: string) => {
    const tenantId = Number(/"tenant_id":(\d+)/.exec(line)?.[1]);
    const tenant = history.tenants.find(({ id }) => id === tenantId);
    if (tenant !== undefined) {
      history.findLeak(tenant, line, `the log of ${process}`);
    }
  };
  const newProcess = processMaker(findings, closers, onLogLine);
  const machines = await startMachines({ folder: await newFolder(), closers, env, newProcess });
  await observe(machines.postgres);

  const { url } = machines.balancer;
  const tenants = await makeTenants(url, machines.postgres);
  history.tenants.push(...tenants);
  const { hooks, partners } = await registerReceivers(url, tenants, newHook);
  const [witnessHook, refusing] = [await newHook(), await newHook()];
  refusing.answer = () => 503;
  const [tenant] = tenants;
  const witness = { hook: witnessHook, partner: await makePartner(url, tenant, witnessHook.url) };
  const budgeted = await makePartner(url, tenant, refusing.url);
  const knownPartners = new Map([...partners, witness.partner].map((partner) => [partner.credentialId, partner]));
  const client = new Client(url, history);
  const load = new Load(random);
  closers.defer(() => load.end());
  const followers = FOLLOWING.flatMap((place) => partners[place] ?? []).map((partner) => new Follower(partner));
  const people = { tenants, partners, knownPartners, witness, budgeted, client, load, followers };
  const receivers = { posts, failingHooks: hooks.slice(0, FAILING_RECEIVERS), impostorPort: impostor.port, newHook };
  const world: World & Started = { random, findings, history, ...machines, ...people, ...receivers };
  load.start(castActors(world, refusing.url), (error) => findings.violation('suite', String(error)));
  return world;
}

function processMaker(
  findings: Findings,
  closers: AsyncDisposableStack,
  onLogLine: (process: string, line: string) => void,
): Stage['newProcess'] {
  return async ({ name, args, database, env }) => {
    const link = new TcpProxy(database);
    await link.listen();
    closers.defer(() => link.close());
    const onDeath = (lines: string[]) =>
      findings.violation('processes do not end by themselves', `${name} ended by itself:\n${lines.join('\n')}`);
    const options = { name, args, env: env(link.port), onLogLine: (line: string) => onLogLine(name, line), onDeath };
    const process = Object.assign(new ServiceProcess(options), { link });
    closers.defer(() => process.kill());
    await process.start();
    return process;
  };
}

async function makeTenants(url: string, postgres: Database): Promise<[Tenant, ...Tenant[]]> {
  const db = createDatabase({ url: postgres.url, poolSize: 1, hasNoTimeLimit: true });
  const tenants: [Tenant, ...Tenant[]] = [await makeTenant(url, db)];
  while (tenants.length < TENANTS) {
    tenants.push(await makeTenant(url, db));
  }
  await db.destroy();
  return tenants;
}

async function registerReceivers(url: string, tenants: [Tenant, ...Tenant[]], newHook: () => Promise<Hook>) {
  const hooks: Hook[] = [];
  const partners: Partner[] = [];
  for (let made = 0; made < RECEIVERS; made += 1) {
    const hook = await newHook();
    if (made >= FAILING_RECEIVERS && made < FAILING_RECEIVERS + UNRELIABLE_RECEIVERS) {
      hook.answer = unreliableAnswer;
    }
    hooks.push(hook);
    partners.push(await makePartner(url, tenants[made % tenants.length] ?? tenants[0], hook.url));
  }
  return { hooks, partners };
}

function castActors(world: World, refusingUrl: string): Actor[] {
  const several = (count: number, make: (world: World) => Actor) => Array.from({ length: count }, () => make(world));
  return [
    ...several(6, orderActor),
    ...several(3, stayActor),
    ...several(2, channelActor),
    ...several(3, readingActor),
    followingActor(world.client, world.followers),
    raceActor(world),
    credentialActor(world, refusingUrl),
    budgetActor(world),
  ];
}
