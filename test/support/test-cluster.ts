import pg from 'pg';
import { type Database, isCluster, type Layout } from '#platform/db/database.ts';

/** Node of the cluster, with the address under which the coordinator knows it. */
interface ClusterNode {
  host: string;
  port: number;
  isCoordinator: boolean;
}

/** A cluster (Citus) that `TEST_DATABASE_URL` names. Each test file gets its own database on all nodes of the cluster. */
interface TestCluster {
  /** URLs of all nodes. The first one is the coordinator. */
  nodeUrls: string[];
  /**
   * Makes a cluster of the databases with this name, which all nodes have.
   * @param route receives the URL of a worker node, and returns the URL under which the coordinator reaches this node. By default, both are
   * equal
   */
  join(name: string, route?: (url: string) => Promise<string>): Promise<void>;
}

/** URL of the PostgreSQL or the cluster (Citus) on which the tests run. If it is undefined, the tests start a PostgreSQL of their own. */
export const OUTSIDE_URL = process.env['TEST_DATABASE_URL'];

let cluster: Promise<TestCluster | null> | undefined;

/** Returns the cluster on which the tests run, or null if they run on one node. */
export function openCluster(): Promise<TestCluster | null> {
  cluster ??= OUTSIDE_URL === undefined ? Promise.resolve(null) : openTestCluster(OUTSIDE_URL);
  return cluster;
}

export async function isTestCluster(): Promise<boolean> {
  return (await openCluster()) !== null;
}

/** Reason to skip the tests that copy a whole database. False on one node, where they run. */
export const noCopies =
  (await isTestCluster()) && 'no snapshot covers the nodes of a cluster, so it has no backup and no move';

export async function testLayout(): Promise<Layout> {
  return (await isTestCluster()) ? 'cluster' : 'one node';
}

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
  return {
    nodeUrls: nodes.map((node) => urlOf(node, 'postgres')),
    async join(name, route = async (nodeUrl) => nodeUrl) {
      await Promise.all(nodes.map((node) => run(urlOf(node, name), ['CREATE EXTENSION citus'])));
      const statements = nodes.map(async (node) => {
        const { hostname, port } = new URL(node.isCoordinator ? urlOf(node, name) : await route(urlOf(node, name)));
        return `SELECT ${node.isCoordinator ? 'citus_set_coordinator_host' : 'citus_add_node'}('${hostname}', ${port})`;
      });
      const coordinator = new URL(url);
      coordinator.pathname = `/${name}`;
      await run(coordinator.href, await Promise.all(statements));
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

export function layoutOf(db: Database): Layout {
  return isCluster(db) ? 'cluster' : 'one node';
}
