import { ownersOf } from './owners.ts';
import { withConnection } from './sql.ts';
import type { Stand } from './stand.ts';

/** Service whose first tenant has long lists, with the headers and ids for the calls that measure these lists. */
export interface StaffStand {
  url: string;
  databaseUrl: string;
  tenantId: number;
  /** Headers of the owner of the tenant. */
  owner: Record<string, string>;
  /** Ids of the tenant's partner credentials. The first credential has most of the orders and stays, and the third one has few. */
  partners: string[];
  /** Ids of the tenant's room types. The last room type has few stays. */
  roomTypes: string[];
  propertyId: string;
}

/** Returns the service, with the headers and ids for calls of its first tenant, whose lists are long. */
export async function openStaffStand(stand: Stand, masterKey: Buffer): Promise<StaffStand> {
  const tenantId = Math.min(...stand.roomTypes.keys());
  const ownerOf = await ownersOf(masterKey, stand);
  const { rows } = await withConnection(stand.databaseUrl, (client) =>
    client.query<{ id: string }>('SELECT id FROM property WHERE tenant_id = $1', [tenantId]),
  );
  return {
    url: stand.service.url,
    databaseUrl: stand.databaseUrl,
    tenantId,
    owner: await ownerOf(tenantId),
    partners: stand.partners.filter((partner) => partner.tenantId === tenantId).map(({ credentialId }) => credentialId),
    roomTypes: (stand.roomTypes.get(tenantId) ?? []).map(({ id }) => id),
    propertyId: rows[0]?.id ?? '',
  };
}
