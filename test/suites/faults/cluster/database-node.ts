import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { etcdApi, findPostgresql, Server } from './server.ts';

/** Ports of one node: the port of its PostgreSQL, and the port of the REST API of its Patroni. */
export interface NodePorts {
  postgres: number;
  rest: number;
}

const CHECK_TIMEOUT_MS = 2_000;

/** Settings of the whole cluster. docs/operating/high-availability.md explains these settings. */
const CLUSTER = {
  ttl: 10,
  loop_wait: 2,
  retry_timeout: 3,
  synchronous_mode: true,
  synchronous_mode_strict: true,
  postgresql: {
    use_pg_rewind: true,
    parameters: {
      max_connections: 150,
      shared_buffers: '64MB',
      wal_log_hints: 'on',
      // The service does not need commit times. The suite uses them to measure delays.
      track_commit_timestamp: 'on',
    },
  },
};

/** One database machine of the cluster: a Patroni, and the PostgreSQL that this Patroni runs. */
export class DatabaseNode {
  readonly name: string;
  readonly ports: NodePorts;
  readonly patroni: Server;
  readonly #dataFolder: string;

  /** Writes the configuration of a node. The node runs only after `start`. */
  constructor(folder: string, name: string, ports: NodePorts, etcdPorts: readonly number[]) {
    this.name = name;
    this.ports = ports;
    this.#dataFolder = join(folder, `${name}-data`);
    const path = join(folder, `${name}.yml`);
    const configuration = configurationOf({ folder, name, ports, etcdPorts, dataFolder: this.#dataFolder });
    // Patroni reads YAML, and each JSON document is also a YAML document.
    writeFileSync(path, JSON.stringify(configuration, null, 2));
    this.patroni = new Server(folder, name, ['patroni', path]);
  }

  start(): void {
    this.patroni.start();
  }

  /** Returns true if this node is the primary. Sends the same request to Patroni as the health check of HAProxy. */
  async isPrimary(): Promise<boolean> {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const answer = await fetch(`http://127.0.0.1:${this.ports.rest}/primary`, { signal }).catch(() => null);
    await answer?.body?.cancel().catch(() => {});
    return answer?.status === 200;
  }

  /** Makes a synchronous standby the primary in place of this node. */
  async switchOver(): Promise<void> {
    await this.#tellPatroni('POST', '/switchover', { leader: this.name });
  }

  async configure(settings: Partial<typeof CLUSTER>): Promise<void> {
    await this.#tellPatroni('PATCH', '/config', settings);
  }

  async #tellPatroni(method: string, path: string, body: object): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${this.ports.rest}${path}`, { method, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`Patroni refused ${method} ${path} with ${answer.status}: ${text}`);
    }
  }

  /** Kills Patroni and all processes of PostgreSQL, as if the machine lost its power. */
  async kill(): Promise<void> {
    // Patroni ends first, because it would start PostgreSQL again.
    await this.patroni.kill();
    signalAll(this.#postgresPids(), 'SIGKILL');
  }

  /** Suspends Patroni and all processes of PostgreSQL in the middle of their work. Their connections stay open. */
  freeze(): void {
    this.patroni.signal('SIGSTOP');
    signalAll(this.#postgresPids(), 'SIGSTOP');
  }

  thaw(): void {
    signalAll(this.#postgresPids(), 'SIGCONT');
    this.patroni.signal('SIGCONT');
  }

  /** Returns the process ids of PostgreSQL, the main process first. The list is empty if PostgreSQL does not run. */
  #postgresPids(): number[] {
    try {
      const main = Number.parseInt(readFileSync(join(this.#dataFolder, 'postmaster.pid'), 'utf8'), 10);
      const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8');
      const command = readFileSync(`/proc/${main}/cmdline`, 'utf8');
      // After a kill, postmaster.pid still exists, and its process id may now belong to another program.
      return command.includes(this.#dataFolder)
        ? [main, ...children.trim().split(' ').filter(Boolean).map(Number)]
        : [];
    } catch {
      return [];
    }
  }
}

function signalAll(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended in the meantime, so it needs no signal.
    }
  }
}

interface Configured {
  folder: string;
  name: string;
  ports: NodePorts;
  etcdPorts: readonly number[];
  dataFolder: string;
}

function configurationOf({ folder, name, ports, etcdPorts, dataFolder }: Configured): object {
  const rest = `127.0.0.1:${ports.rest}`;
  const postgres = `127.0.0.1:${ports.postgres}`;
  const superuser = { username: 'postgres', password: 'postgres' };
  return {
    scope: 'roomservice',
    name,
    restapi: { listen: rest, connect_address: rest },
    [etcdApi()]: { hosts: etcdPorts.map((port) => `127.0.0.1:${port}`) },
    bootstrap: { dcs: CLUSTER, initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }] },
    postgresql: {
      listen: postgres,
      connect_address: postgres,
      data_dir: dataFolder,
      bin_dir: findPostgresql(),
      pgpass: join(folder, `${name}.pgpass`),
      pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      authentication: {
        superuser,
        replication: { username: 'replicator', password: 'replicator' },
        rewind: superuser,
      },
      parameters: { unix_socket_directories: folder },
      // If pg_rewind cannot repair a node, Patroni removes the data folder of the node and copies the data again from the primary.
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
  };
}
