import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { actorOf, changeUser, differing, lockUser, type Staff } from '../tenants/tenants.ts';
import type { Me, MeChange } from './schema.ts';

export interface ServiceFacts {
  version: string;
  eventRetentionDays: number;
  rateLimitPerMinute: number;
  webhookHeaderBrand: string;
  /** Returns true if the sandbox, which simulates the staff of a tenant, changes the orders and reservations of this tenant. */
  isSandbox: (tenantId: number) => Promise<boolean>;
}

export async function meOf(staff: Staff, service: ServiceFacts): Promise<Me> {
  const { tenant, session } = staff;
  return {
    person: personShape(staff),
    display: staff.type === 'display' ? { id: staff.id, label: staff.name ?? '', areas: staff.areas } : null,
    tenant,
    session: { id: session.id, kind: session.kind, expires_at: session.expiresAt.toISOString() },
    service: {
      now: session.now.toISOString(),
      version: service.version,
      sandbox: await service.isSandbox(tenant.id),
      event_retention_days: service.eventRetentionDays,
      rate_limit_per_minute: service.rateLimitPerMinute,
      webhook_header_brand: service.webhookHeaderBrand,
    },
  };
}

function personShape({ id, name, email, role, areas, language }: Staff): Me['person'] {
  return email === null || role === null ? null : { id, name, email, role, areas, language };
}

/** Changes the name or the language of the person. Ignores other fields of the body, for example a role. */
export async function changeMe(db: Database, staff: Staff, { name, language }: MeChange): Promise<Staff> {
  await inTransaction(db, async (tx) => {
    const user = await lockUser(tx, staff.tenant.id, staff.id);
    if (user !== undefined) {
      await changeUser(tx, actorOf(staff), user, differing(user, { name, language }));
    }
  });
  return { ...staff, name: name ?? staff.name, language: language ?? staff.language };
}
