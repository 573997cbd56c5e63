import { sql } from 'kysely';
import pg from 'pg';
import { UnavailableError } from '../errors.ts';
import type { Db } from './database.ts';

/**
 * Names of two shards, one for each of two tables that are distributed by tenant. Both shards are on one node, and have rows of the same
 * tenants.
 */
export type Shards = readonly [string, string];

interface NodeOfShards {
  host: string;
  port: number;
  shards: Shards[];
}

/**
 * Reads rows of all tenants from the nodes of a cluster (Citus) that can be reached, while at least one node is down. One statement over
 * all tenants would fail then, so this function sends a separate statement to each node. Citus opens a new connection to each node for
 * these statements, which takes time. So a caller uses this function only during an outage.
 *
 * If a node does not respond, Citus waits for it until `citus.node_connection_timeout` has passed (docs/operating/cluster.md).
 * @param tables two tables that are distributed by tenant. Each shard of the first table has a matching shard of the second table, which
 * has the rows of the same tenants.
 * @param select makes the query for a shard of the first table and its matching shard. It must write values with `literal`, because Citus
 * takes no parameters here.
 * @returns the rows of all reachable nodes
 * @throws UnavailableError if no node can be reached
 */
export async function readReachableNodes<Row>(
  db: Db,
  tables: readonly [string, string],
  select: (shards: Shards) => string,
): Promise<Row[]> {
  const nodes = await readNodes(db, tables);
  const commands = nodes.map(
    ({ shards }) => `SELECT coalesce(json_agg(found), '[]') FROM (${shards.map(select).join(' UNION ALL ')}) AS found`,
  );
  const { rows } = await sql<{ success: boolean; result: string }>`
    SELECT success, result FROM master_run_on_worker(
      ${nodes.map(({ host }) => host)}::text[], ${nodes.map(({ port }) => port)}::int[], ${commands}::text[], true)`.execute(
    db,
  );
  const results = rows.filter(({ success }) => success);
  if (results.length === 0) {
    throw new UnavailableError('No node of the cluster can be reached. Check that the nodes run.', {
      cause: new Error(rows[0]?.result),
    });
  }
  return results.flatMap(({ result }) => JSON.parse(result) as Row[]);
}

async function readNodes(db: Db, [first, second]: readonly [string, string]): Promise<NodeOfShards[]> {
  const { rows } = await sql<NodeOfShards>`
    SELECT n.nodename AS host, n.nodeport AS port,
      json_agg(json_build_array(shard_name(a.logicalrelid, a.shardid), shard_name(b.logicalrelid, b.shardid))) AS shards
    FROM pg_dist_shard AS a
    JOIN pg_dist_shard AS b ON b.logicalrelid = ${second}::regclass AND b.shardminvalue = a.shardminvalue
    JOIN pg_dist_placement AS p ON p.shardid = a.shardid
    JOIN pg_dist_node AS n ON n.groupid = p.groupid AND n.noderole = 'primary'
    WHERE a.logicalrelid = ${first}::regclass
    GROUP BY n.nodename, n.nodeport`.execute(db);
  return rows;
}

/** Returns a value as an SQL literal. A text is quoted, and an array of texts becomes `ARRAY[…]::text[]`. */
export function literal(value: string | number | readonly string[]): string {
  if (typeof value === 'number') {
    return String(value);
  }
  return typeof value === 'string'
    ? pg.escapeLiteral(value)
    : `ARRAY[${value.map(pg.escapeLiteral).join(', ')}]::text[]`;
}
