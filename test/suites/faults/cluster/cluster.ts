import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandOptions } from '../../../support/command.ts';
import { freePort } from '../../../support/free-port.ts';
import { createRedis, type Redis } from '../../../support/redis.ts';
import { Database } from '../database.ts';
import { type Stage, startProcesses } from '../open-world.ts';
import { type Machines, waitUntil, type World } from '../world.ts';
import { haproxyOfApis, haproxyOfDatabase, pgbouncer } from './configurations.ts';
import { DatabaseNode } from './database-node.ts';
import { etcdApi, Server, serverAccount } from './server.ts';

const WHOLE_WITHIN_MS = 120_000;
const NODES = 3;

/** Servers of a highly available installation, as docs/operating/high-availability.md describes it. */
interface Cluster extends Machines {
  etcds: Server[];
  nodes: DatabaseNode[];
  pgbouncer: Server;
  redis: Redis;
  /** Environment for `roomservice` commands that the suite runs while the processes of the service run. */
  command: CommandOptions;
  /** Folder with the logs of all servers. */
  serverFolder: string;
}

export type ClusterWorld = World & Cluster;

interface Site {
  folder: string;
  closers: AsyncDisposableStack;
}

/**
 * Starts three etcd servers, three PostgreSQL servers under Patroni, HAProxy, PgBouncer, Redis, two API processes behind a HAProxy, and two
 * workers.
 */
export async function startCluster({ folder, closers, newProcess, ...stage }: Stage): Promise<Cluster> {
  const site = { folder: join(folder, 'servers'), closers };
  await mkdir(site.folder);
  const { uid, gid } = serverAccount();
  if (uid !== undefined && gid !== undefined) {
    await chown(site.folder, uid, gid);
  }
  const { etcds, nodes, databasePort } = await startDatabase(site);
  const postgres = await createDatabase(databasePort);
  closers.defer(() => postgres.close());
  const poolerPort = await freePort();
  const configuration = pgbouncer(poolerPort, databasePort);
  const pooler = await startServer(site, 'pgbouncer', poolerPort, configuration, ['pgbouncer']);
  const redis = await createRedis('redis-server');
  closers.defer(() => redis.close());
  await redis.start();

  const shared = { ...stage.env, REDIS_URL: redis.url, DATABASE_POOLER: 'true' };
  const envThrough = (port: number) => ({ ...shared, DATABASE_URL: urlOf('roomservice', port) });
  const database = { port: poolerPort };
  const start = async (name: string, args: string[]) => await newProcess({ name, args, database, env: envThrough });
  const processes = await startProcesses(start);
  const port = await freePort();
  const apiPorts = processes.apis.map((api) => api.port);
  await startHaproxy(site, 'haproxy-api', port, haproxyOfApis(port, apiPorts));
  const balancer = { url: `http://127.0.0.1:${port}` };
  const command = { env: envThrough(poolerPort) };
  return {
    ...processes,
    etcds,
    nodes,
    postgres,
    pgbouncer: pooler,
    redis,
    balancer,
    command,
    serverFolder: site.folder,
  };
}

/** Returns the URL of the database for a port of this machine, on which HAProxy, PgBouncer or a proxy of this suite listens. */
function urlOf(role: string, port: number, database = 'roomservice'): string {
  return `postgres://${role}@127.0.0.1:${port}/${database}`;
}

async function startDatabase(site: Site) {
  const peers = await freePorts(NODES);
  const etcdPorts = await freePorts(NODES);
  const etcds = peers.map((_, index) => etcd(site, index, peers, etcdPorts));
  const nodes: DatabaseNode[] = [];
  for (let made = 1; made <= NODES; made += 1) {
    const ports = { postgres: await freePort(), rest: await freePort() };
    nodes.push(new DatabaseNode(site.folder, `node${made}`, ports, etcdPorts));
  }
  for (const each of [...etcds, ...nodes]) {
    site.closers.defer(() => each.kill());
    each.start();
  }
  const databasePort = await freePort();
  const nodePorts = nodes.map(({ ports }) => ports);
  await startHaproxy(site, 'haproxy-database', databasePort, haproxyOfDatabase(databasePort, nodePorts));
  if ((await waitUntil(async () => (await findPrimary(nodes)) !== undefined, WHOLE_WITHIN_MS, 200)) === undefined) {
    throw new Error(`Patroni has no primary. Its log ends with:\n${nodes[0]?.patroni.lastLines()}`);
  }
  return { etcds, nodes, databasePort };
}

async function freePorts(count: number): Promise<number[]> {
  return await Promise.all(Array.from({ length: count }, () => freePort()));
}

function etcd({ folder }: Site, index: number, peers: number[], clients: number[]): Server {
  const name = `etcd${index + 1}`;
  const addressOf = (port: number | undefined) => `http://127.0.0.1:${port}`;
  const settings = {
    name,
    'data-dir': join(folder, `${name}-data`),
    'listen-client-urls': addressOf(clients[index]),
    'advertise-client-urls': addressOf(clients[index]),
    'listen-peer-urls': addressOf(peers[index]),
    'initial-advertise-peer-urls': addressOf(peers[index]),
    // Patroni gives each request a second, in which the others must elect a leader.
    'heartbeat-interval': '50',
    'election-timeout': '500',
    'initial-cluster': peers.map((port, at) => `etcd${at + 1}=${addressOf(port)}`).join(),
  };
  const args = Object.entries(settings).map(([setting, value]) => `--${setting}=${value}`);
  const older = etcdApi() === 'etcd' ? ['--enable-v2=true'] : [];
  return new Server(folder, name, ['etcd', ...args, ...older]);
}

async function startHaproxy(site: Site, name: string, port: number, text: string): Promise<Server> {
  return await startServer(site, name, port, text, ['haproxy', '-db', '-f']);
}

async function startServer(
  { folder, closers }: Site,
  name: string,
  port: number,
  configuration: string,
  command: [string, ...string[]],
): Promise<Server> {
  const path = join(folder, `${name}.conf`);
  await writeFile(path, configuration);
  const server = new Server(folder, name, [...command, path]);
  closers.defer(() => server.kill());
  server.start();
  await server.untilListening(port);
  return server;
}

/** Waits until the cluster is complete and can commit writes. Then creates the role and the database of the service. */
async function createDatabase(port: number): Promise<Database> {
  const server = new Database(urlOf('postgres', port, 'postgres'));
  await untilReplicated(server);
  await server.query('CREATE ROLE roomservice LOGIN');
  await server.query('CREATE DATABASE roomservice OWNER roomservice');
  await server.close();
  return new Database(urlOf('postgres', port));
}

/** Returns the node that is the primary, or undefined if there is no primary. */
export async function findPrimary(nodes: readonly DatabaseNode[]): Promise<DatabaseNode | undefined> {
  const found = await Promise.all(nodes.map(async (node) => ((await node.isPrimary()) ? [node] : [])));
  return found.flat()[0];
}

/** Waits until both standbys replicate the primary, at least one of them synchronously. */
export async function untilReplicated(postgres: Database): Promise<void> {
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
