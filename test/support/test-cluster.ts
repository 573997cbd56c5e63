import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { createDatabase, type Layout } from '#platform/db/database.ts';
import { migrateToLatest } from '#platform/db/migrate.ts';

/** Node of the cluster, with the address under which the coordinator knows it. */
interface ClusterNode {
  host: string;
  port: number;
  isCoordinator: boolean;
}

/** A cluster (Citus) that `TEST_DATABASE_URL` names. Each test file gets its own database on all nodes of the cluster. */
export interface TestCluster {
  /**
   * Makes a database on all nodes, migrates it, and returns its URL on the coordinator.
   * @param route receives the URL of a worker node, and returns the URL under which the coordinator reaches this node. By default, both are
   * equal
   */
  createDatabase(route?: (url: string) => Promise<string>): Promise<string>;
  dropDatabase(url: string): Promise<void>;
}

/** URL of the PostgreSQL or the cluster (Citus) on which the tests run. If it is undefined, the tests start a PostgreSQL of their own. */
export const OUTSIDE_URL = process.env['TEST_DATABASE_URL'];

let cluster: Promise<TestCluster | null> | undefined;

/** Returns the cluster on which the tests run, or null if they run on one node. */
export function openCluster(): Promise<TestCluster | null> {
  cluster ??= OUTSIDE_URL === undefined ? Promise.resolve(null) : openTestCluster(OUTSIDE_URL);
  return cluster;
}

/** Returns true if the tests run on a cluster (Citus). */
export async function isTestCluster(): Promise<boolean> {
  return (await openCluster()) !== null;
}

/** Returns the layout of the test databases: `cluster` or `one node`. */
export async function testLayout(): Promise<Layout> {
  return (await isTestCluster()) ? 'cluster' : 'one node';
}

/**
 * Returns the cluster to which the URL leads, or null if the URL leads to a single node. Reads the list of nodes from the database in the
 * URL.
 */
async function openTestCluster(url: string): Promise<TestCluster | null> {
  const nodes = await readNodes(url);
  if (nodes === null) {
    return null;
  }
  const urlOf = ({ host, port }: ClusterNode, database: string) => {
    const own = new URL(url);
    own.hostname = host;
    own.port = String(port);
    own.pathname = `/${database}`;
    return own.href;
  };
  const onAll = async (database: string, statements: string[]) =>
    void (await Promise.all(nodes.map((node) => run(urlOf(node, database), statements))));
  return {
    async createDatabase(route = async (nodeUrl) => nodeUrl) {
      const name = `test_${randomBytes(6).toString('hex')}`;
      await onAll('postgres', [`CREATE DATABASE ${name}`]);
      await onAll(name, ['CREATE EXTENSION citus']);
      const own = new URL(url);
      own.pathname = `/${name}`;
      const statements = nodes.map(async (node) => {
        const { hostname, port } = new URL(node.isCoordinator ? urlOf(node, name) : await route(urlOf(node, name)));
        return `SELECT ${node.isCoordinator ? 'citus_set_coordinator_host' : 'citus_add_node'}('${hostname}', ${port})`;
      });
      await run(own.href, await Promise.all(statements));
      const db = createDatabase({ url: own.href, poolSize: 2, hasNoTimeLimit: true, isPrepared: false });
      try {
        await migrateToLatest(db);
      } finally {
        await db.destroy();
      }
      return own.href;
    },
    async dropDatabase(of) {
      await onAll('postgres', [`DROP DATABASE ${new URL(of).pathname.slice(1)} WITH (FORCE)`]);
    },
  };
}

async function readNodes(url: string): Promise<ClusterNode[] | null> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ found: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS found`,
    );
    if (!rows[0]?.found) {
      return null;
    }
    const nodes = await client.query<ClusterNode>(
      `SELECT nodename AS host, nodeport AS port, groupid = 0 AS "isCoordinator" FROM pg_dist_node ORDER BY groupid`,
    );
    return nodes.rows;
  } finally {
    await client.end();
  }
}

async function run(url: string, statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    for (const statement of statements) {
      await client.query(statement);
    }
  } finally {
    await client.end();
  }
}
