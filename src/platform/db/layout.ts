import { type Kysely, sql } from 'kysely';
import type { DB } from './types.ts';

/**
 * Location of the rows of all tables: on one node, or distributed by tenant over the nodes of a cluster (Citus). On a cluster, a statement
 * may touch only one tenant, and some kinds of statements are refused (architecture, database rules 4 and 8). So some functions use another
 * statement on a cluster.
 */
export type Layout = 'one node' | 'cluster';

const layouts = new WeakMap<Kysely<DB>, Layout>();

export async function readLayout<T>(db: Kysely<T>): Promise<Layout> {
  const { rows } = await sql`SELECT FROM pg_extension WHERE extname = 'citus'`.execute(db);
  return rows.length > 0 ? 'cluster' : 'one node';
}

/**
 * Records the layout of `db`, which is a database or a transaction. Kysely makes a new object for each transaction, so the layout of the
 * database must be recorded for this object too.
 */
export function setLayout(db: Kysely<DB>, layout: Layout): void {
  layouts.set(db, layout);
}

/** Returns the layout of a database or transaction. @throws Error if neither `inTransaction` nor `runTransaction` began the transaction */
export function layoutOf(db: Kysely<DB>): Layout {
  const layout = layouts.get(db);
  if (layout === undefined) {
    throw new Error(
      'It is unknown if this database or transaction is on one node or on a cluster. This is a fault of the program. ' +
        'A transaction must begin with inTransaction or runTransaction.',
    );
  }
  return layout;
}

export function isCluster(db: Kysely<DB>): boolean {
  return layoutOf(db) === 'cluster';
}
