import { type Kysely, type RawBuilder, sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import { readLayout } from './database.ts';

/**
 * Place of the rows of a table on a cluster (Citus).
 *
 * - `by tenant`: the rows of a tenant lie together on one node, with the tenant's rows of all other such tables.
 * - `on each node`: each node has a copy, so a read needs only one node, but a write needs all nodes. This place is for tables that other
 *   tables refer to and that change seldom.
 * - `on the coordinator`: only the coordinator has the table. Reads and writes work while another node is down. Two transactions cannot
 *   deadlock by locking the copies of a row in different orders, because a row has no copies.
 */
type Placement = 'by tenant' | 'on each node' | 'on the coordinator';

/** A table that is not listed here is placed by tenant, and `tenant_id` must be the first column of its primary key. */
const PLACEMENTS: Readonly<Record<string, Placement>> = {
  tenant: 'on each node',
  feed_era: 'on each node',
  kysely_migration: 'on each node',
  pairing_code: 'on the coordinator',
  recent_change: 'on the coordinator',
  service_key: 'on the coordinator',
  sign_in: 'on the coordinator',
};

export function placementOf(table: string): Placement {
  return PLACEMENTS[table] ?? 'by tenant';
}

/** Table that Citus distributes first. Its rows decide the node of each tenant. */
const FIRST_TABLE = 'app_user';

export interface TablePlacement {
  table: string;
  placement: Placement;
  /** Place that the table has now: a `Placement`, or a description such as `not distributed`. */
  actual: string;
  isRight: boolean;
}

/** Returns the tables of a cluster with their places. @throws OperatorError if the database is not a cluster */
export async function readPlacements<T>(db: Kysely<T>): Promise<TablePlacement[]> {
  await refuseOneNode(db);
  const { rows } = await sql<{ table: string; actual: string }>`
    SELECT c.relname AS table, CASE
        WHEN p.logicalrelid IS NULL THEN 'not distributed'
        WHEN p.repmodel = 't' THEN 'on each node'
        WHEN p.partmethod = 'n' THEN 'on the coordinator'
        WHEN column_to_column_name(p.logicalrelid, p.partkey) <> 'tenant_id'
          THEN 'by ' || column_to_column_name(p.logicalrelid, p.partkey)
        WHEN p.colocationid IS DISTINCT FROM first.colocationid THEN 'by tenant, but not beside ' || ${FIRST_TABLE}
        ELSE 'by tenant' END AS actual
    FROM pg_class AS c
    LEFT JOIN pg_dist_partition AS p ON p.logicalrelid = c.oid
    LEFT JOIN pg_dist_partition AS first ON first.logicalrelid = to_regclass(${FIRST_TABLE})
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
    ORDER BY c.relname`.execute(db);
  return rows.map(({ table, actual }) => {
    const placement = placementOf(table);
    return { table, placement, actual, isRight: actual === placement };
  });
}

/** Moves each table to its place in one transaction, which locks the tables. Returns those that were in a wrong place. */
export async function distribute<T>(
  db: Kysely<T>,
  progress: (message: string) => void = () => {},
): Promise<TablePlacement[]> {
  await refuseOneNode(db);
  await refuseOtherThanCoordinator(db);
  return await db.transaction().execute((tx) => placeMisplaced(tx, progress));
}

async function placeMisplaced<T>(tx: Kysely<T>, progress: (message: string) => void): Promise<TablePlacement[]> {
  const wrong = (await readPlacements(tx)).filter(({ isRight }) => !isRight);
  if (wrong.length > 0) {
    await place(tx, wrong, progress);
  }
  return wrong;
}

/** Prepares the transaction of the migrations on a cluster. Returns a function that places the new tables, if all others are in place. */
export async function prepareMigrations<T>(tx: Kysely<T>): Promise<() => Promise<void>> {
  if ((await readLayout(tx)) === 'one node') {
    return async () => {};
  }
  await refuseOtherThanCoordinator(tx);
  const isDistributed = (await readPlacements(tx)).every(({ isRight }) => isRight);
  await prepareForTables(tx);
  return async () => {
    if (isDistributed) {
      await placeMisplaced(tx, () => {});
    }
  };
}

/** Citus uses one connection to each node, so that uncommitted tables are visible, and leaves a new table where it is until `place`. */
async function prepareForTables<T>(tx: Kysely<T>): Promise<void> {
  await sql`SET LOCAL citus.multi_shard_modify_mode TO 'sequential'`.execute(tx);
  await sql`SET LOCAL citus.enable_local_reference_table_foreign_keys TO off`.execute(tx);
}

async function refuseOneNode<T>(db: Kysely<T>): Promise<void> {
  if ((await readLayout(db)) === 'one node') {
    throw new OperatorError(
      'The database is not a cluster, because it has no extension "citus". A database on one node needs no distribution. ' +
        'docs/operating/cluster.md says how to set up a cluster.',
    );
  }
}

async function refuseOtherThanCoordinator<T>(db: Kysely<T>): Promise<void> {
  const { rows } = await sql`SELECT FROM pg_dist_local_group WHERE groupid = 0`.execute(db);
  if (rows.length === 0) {
    throw new OperatorError(
      'DATABASE_URL is not the URL of the coordinator of the cluster, and only the coordinator can change tables. ' +
        'First run "roomservice migrate" with the URL of the coordinator in DATABASE_URL.',
    );
  }
}

/** Citus refuses to place a table while a foreign key leads to a table that is not placed yet. */
async function place<T>(tx: Kysely<T>, wrong: TablePlacement[], progress: (message: string) => void): Promise<void> {
  await prepareForTables(tx);
  const foreignKeys = await readForeignKeys(
    tx,
    wrong.map(({ table }) => table),
  );
  for (const { child, name } of foreignKeys) {
    await sql`ALTER TABLE ${sql.id(child)} DROP CONSTRAINT ${sql.id(name)}`.execute(tx);
  }
  for (const { table, placement, actual } of wrong.sort(byPlacement)) {
    progress(`Placing ${table} ${placement} …`);
    if (actual !== 'not distributed' && actual !== 'on the coordinator') {
      await sql`SELECT undistribute_table(${table})`.execute(tx);
    }
    await statementOf(table, placement).execute(tx);
  }
  for (const { child, name, definition } of foreignKeys) {
    await sql`ALTER TABLE ${sql.id(child)} ADD CONSTRAINT ${sql.id(name)} ${sql.raw(definition)}`.execute(tx);
  }
}

async function readForeignKeys<T>(tx: Kysely<T>, tables: string[]) {
  const { rows } = await sql<{ child: string; name: string; definition: string }>`
    SELECT child.relname AS child, k.conname AS name, pg_get_constraintdef(k.oid) AS definition
    FROM pg_constraint AS k JOIN pg_class AS child ON child.oid = k.conrelid JOIN pg_class AS parent ON parent.oid = k.confrelid
    WHERE k.contype = 'f' AND child.relnamespace = 'public'::regnamespace
      AND (child.relname = ANY(${tables}) OR parent.relname = ANY(${tables}))
    ORDER BY child.relname, k.conname`.execute(tx);
  return rows;
}

function statementOf(table: string, placement: Placement): RawBuilder<unknown> {
  switch (placement) {
    case 'on each node':
      return sql`SELECT create_reference_table(${table})`;
    case 'on the coordinator':
      return sql`SELECT citus_add_local_table_to_metadata(${table})`;
    case 'by tenant':
      return sql`SELECT create_distributed_table(${table}, 'tenant_id', colocate_with => ${table === FIRST_TABLE ? 'none' : FIRST_TABLE})`;
  }
}

/** Tables with a copy on each node come first, because other tables refer to them. The others are placed beside `FIRST_TABLE`. */
function byPlacement(a: TablePlacement, b: TablePlacement): number {
  const rank = ({ table, placement }: TablePlacement) =>
    placement === 'on each node' ? 0 : table === FIRST_TABLE ? 1 : 2;
  return rank(a) - rank(b);
}
