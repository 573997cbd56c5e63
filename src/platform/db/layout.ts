import { type Kysely, sql } from 'kysely';
import type { DB } from './types.ts';

/**
 * Where the rows of tables lie: all on one node, or spread by tenant over the nodes of a cluster (Citus). On a cluster a statement is of
 * one tenant, and some forms of statements are refused (architecture, database rules 4 and 8). Stores ask for it, and what batches for them.
 */
export type Layout = 'one node' | 'cluster';

const layouts = new WeakMap<Kysely<DB>, Layout>();

export async function readLayout(db: Kysely<DB>): Promise<Layout> {
  const { rows } = await sql`SELECT FROM pg_extension WHERE extname = 'citus'`.execute(db);
  return rows.length > 0 ? 'cluster' : 'one node';
}

/** Notes the layout of a database, or of a transaction of it. */
export function setLayout(db: Kysely<DB>, layout: Layout): void {
  layouts.set(db, layout);
}

/** @throws Error for a transaction that was not begun by `inTransaction` or `runTransaction` */
export function layoutOf(db: Kysely<DB>): Layout {
  const layout = layouts.get(db);
  if (layout === undefined) {
    throw new Error('the layout of this database or transaction was never set');
  }
  return layout;
}

export function isCluster(db: Kysely<DB>): boolean {
  return layoutOf(db) === 'cluster';
}
