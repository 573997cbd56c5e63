import type { Database } from '#platform/db/database.ts';

export interface NameRow {
  id: string;
  name: string;
}

export async function findPersonNames(db: Database, tenantId: number, ids: string[]): Promise<NameRow[]> {
  return ids.length === 0
    ? []
    : await db
        .selectFrom('app_user')
        .select(({ fn }) => ['id', fn.coalesce('name', 'email').as('name')])
        .where('tenant_id', '=', tenantId)
        .where('id', 'in', ids)
        .execute();
}

/** Finds the labels of displays, also of removed displays. */
export async function findDisplayLabels(db: Database, tenantId: number, ids: string[]): Promise<NameRow[]> {
  return ids.length === 0
    ? []
    : await db
        .selectFrom('display')
        .select(['id', 'label as name'])
        .where('tenant_id', '=', tenantId)
        .where('id', 'in', ids)
        .execute();
}

export async function findCredentialLabels(db: Database, tenantId: number, ids: string[]): Promise<NameRow[]> {
  return ids.length === 0
    ? []
    : await db
        .selectFrom('credential')
        .select(['id', 'label as name'])
        .where('tenant_id', '=', tenantId)
        .where('id', 'in', ids)
        .execute();
}
