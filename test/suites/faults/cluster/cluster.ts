import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRedis, type Redis } from '../../../support/redis.ts';
import { newPort } from '../ports.ts';
import type { ServiceProcess } from '../service-process.ts';
import { type Machines, type Stage, waitUntil, type World } from '../world.ts';
import { haproxyOfApis, haproxyOfDatabase, pgbouncer } from './configurations.ts';
import { ClusterDatabase } from './database.ts';
import { DatabaseNode } from './database-node.ts';
import { etcdApi, findPostgresql } from './programs.ts';
import { type Account, Server, serverAccount, untilListening } from './server.ts';

const WHOLE_WITHIN_MS = 120_000;
const NODES = 3;

/** Servers of a highly available installation, as docs/operating/high-availability.md describes it. */
interface Cluster extends Machines {
  etcds: Server[];
  nodes: DatabaseNode[];
  postgres: ClusterDatabase;
  pgbouncer: Server;
  redis: Redis;
  /** Folder with the logs of all servers. */
  serverFolder: string;
}

/** State of a run on a real cluster. The faults of the run disturb the cluster. */
export type ClusterWorld = World & Cluster;

interface Site {
  folder: string;
  account: Account;
  closers: Stage['closers'];
}

/**
 * Starts three etcd servers, three PostgreSQL servers under Patroni, HAProxy, PgBouncer, Redis, two API processes behind a HAProxy, and two
 * workers.
 */
export async function startCluster(stage: Stage): Promise<Cluster> {
  const site = { folder: join(stage.folder, 'servers'), account: serverAccount(), closers: stage.closers };
  await mkdir(site.folder);
  await giveAway(site.folder, site.account);
  const { etcds, nodes, databasePort } = await startDatabase(site);
  const postgres = await createDatabase(databasePort);
  stage.closers.add(() => postgres.close());
  const poolerPort = await newPort();
  const pooler = await startPgbouncer(site, poolerPort, databasePort);
  const redis = await createRedis('redis-server');
  await redis.start();
  stage.closers.add(() => redis.close());

  const env = { ...stage.env, REDIS_URL: redis.url, DATABASE_POOLER: 'true' };
  const command = { env: { ...env, DATABASE_URL: urlOf(poolerPort) } };
  const begin = async (name: string, only: 'api' | 'worker') => {
    const through = (port: number) => ({ ...env, DATABASE_URL: urlOf(port) });
    const process = await stage.newProcess({ name, only, database: { port: poolerPort }, env: through });
    await process.start();
    return process;
  };
  const apis: Machines['apis'] = [await begin('api 1', 'api'), await begin('api 2', 'api')];
  const workers: Machines['workers'] = [await begin('worker 1', 'worker'), await begin('worker 2', 'worker')];
  const balancer = await startBalancer(site, apis);
  const servers = { serverFolder: site.folder, etcds, nodes, postgres, pgbouncer: pooler, redis, balancer };
  return { ...servers, apis, workers, command };
}

/**
 * Returns the URL of the database for a port of this machine. HAProxy, PgBouncer or a TCP proxy of this suite (`DatabaseLink`) listens on
 * this port.
 */
function urlOf(port: number): string {
  return `postgres://roomservice@127.0.0.1:${port}/roomservice`;
}

async function startPgbouncer(site: Site, port: number, databasePort: number): Promise<Server> {
  return await startServer(site, 'pgbouncer', port, pgbouncer(port, databasePort), (path) => ['pgbouncer', path]);
}

async function startBalancer(site: Site, apis: readonly ServiceProcess[]): Promise<Machines['balancer']> {
  const port = await newPort();
  const apiPorts = apis.map((api) => api.port);
  await startHaproxy(site, 'haproxy-api', port, haproxyOfApis(port, apiPorts));
  return { url: `http://127.0.0.1:${port}` };
}

async function giveAway(path: string, account: Account): Promise<void> {
  if (account !== undefined) {
    await chown(path, account.uid, account.gid);
  }
}

async function startDatabase(site: Site) {
  const binaries = findPostgresql();
  if (binaries === undefined) {
    throw new Error('PostgreSQL is not installed. Install the package postgresql.');
  }
  const peers = await newPorts(NODES);
  const etcdPorts = await newPorts(NODES);
  const etcds = peers.map((_, index) => etcd(site, index, peers, etcdPorts));
  const nodes: DatabaseNode[] = [];
  for (let made = 1; made <= NODES; made += 1) {
    const ports = { postgres: await newPort(), rest: await newPort() };
    const { folder, account } = site;
    nodes.push(
      await DatabaseNode.create({
        name: `node${made}`,
        folder,
        account,
        binaries,
        ports,
        etcdPorts,
        etcdApi: etcdApi(),
      }),
    );
  }
  for (const each of [...etcds, ...nodes]) {
    each.start();
    site.closers.add(() => each.kill());
  }
  const databasePort = await newPort();
  const nodePorts = nodes.map(({ ports }) => ports);
  await startHaproxy(site, 'haproxy-database', databasePort, haproxyOfDatabase(databasePort, nodePorts));
  if ((await waitUntil(async () => (await findPrimary(nodes)) !== undefined, WHOLE_WITHIN_MS, 200)) === undefined) {
    throw new Error(`Patroni has no primary. Its log ends with:\n${nodes[0]?.patroni.lastLines()}`);
  }
  return { etcds, nodes, databasePort };
}

async function newPorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    ports.push(await newPort());
  }
  return ports;
}

function etcd({ folder, account }: Site, index: number, peers: number[], clients: number[]): Server {
  const name = `etcd${index + 1}`;
  const addressOf = (port: number | undefined) => `http://127.0.0.1:${port}`;
  const settings = {
    name,
    'data-dir': join(folder, `${name}-data`),
    'listen-client-urls': addressOf(clients[index]),
    'advertise-client-urls': addressOf(clients[index]),
    'listen-peer-urls': addressOf(peers[index]),
    'initial-advertise-peer-urls': addressOf(peers[index]),
    'initial-cluster': peers.map((port, at) => `etcd${at + 1}=${addressOf(port)}`).join(),
  };
  const args = Object.entries(settings).map(([setting, value]) => `--${setting}=${value}`);
  const older = etcdApi() === 'etcd' ? ['--enable-v2=true'] : [];
  return new Server({ name, command: ['etcd', ...args, ...older], folder, account });
}

async function startHaproxy(site: Site, name: string, port: number, text: string): Promise<Server> {
  return await startServer(site, name, port, text, (path) => ['haproxy', '-db', '-f', path]);
}

/** Writes the configuration of a server, starts it, and waits until it listens. */
async function startServer(
  { folder, account, closers }: Site,
  name: string,
  port: number,
  configuration: string,
  commandOf: (path: string) => [string, ...string[]],
): Promise<Server> {
  const path = join(folder, `${name}.conf`);
  await writeFile(path, configuration);
  const server = new Server({ name, command: commandOf(path), folder, account });
  server.start();
  closers.add(() => server.kill());
  await untilListening(server, port);
  return server;
}

/**
 * Waits until both standbys follow the primary, so that the cluster is complete and can commit writes. Then creates the role and the
 * database of the service.
 */
async function createDatabase(port: number): Promise<ClusterDatabase> {
  const connect = (database: string) => new ClusterDatabase(`postgres://postgres@127.0.0.1:${port}/${database}`);
  const server = connect('postgres');
  await untilReplicated(server);
  await server.query('CREATE ROLE roomservice LOGIN');
  await server.query('CREATE DATABASE roomservice OWNER roomservice');
  await server.close();
  return connect('roomservice');
}

/** Returns the node that is the primary, or undefined if there is no primary. */
export async function findPrimary(nodes: readonly DatabaseNode[]): Promise<DatabaseNode | undefined> {
  const found = await Promise.all(nodes.map(async (node) => ((await node.isPrimary()) ? [node] : [])));
  return found.flat()[0];
}

/**
 * Waits until both standbys replicate the primary, at least one of them synchronously.
 * @throws Error if this takes more than 120 s
 */
export async function untilReplicated(postgres: ClusterDatabase): Promise<void> {
  const isWhole = async () => {
    const [row] = await postgres.query<{ standbys: string; synchronous: string }>(`
      SELECT count(*) FILTER (WHERE state = 'streaming') AS standbys, count(*) FILTER (WHERE sync_state = 'sync') AS synchronous
      FROM pg_stat_replication WHERE application_name LIKE 'node%'`);
    return Number(row?.standbys) === NODES - 1 && Number(row?.synchronous) > 0;
  };
  if ((await waitUntil(isWhole, WHOLE_WITHIN_MS, 200)) === undefined) {
    throw new Error(`The standbys did not follow the primary within ${WHOLE_WITHIN_MS / 1000} s.`);
  }
}
