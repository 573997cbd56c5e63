import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { useNow } from '../../live/clock.ts';
import { Status } from '../../ui/status.tsx';

/** After this time, waiting deliveries are more than a passing hiccup. */
const LATE_MS = 5 * 60_000;
const RECENT_MS = 24 * 60 * 60_000;

export function Health({ partner }: { partner: Answer<'listStaffCredentials'>[number] }) {
  const now = useNow(10_000);
  const { is_active: isActive, webhook_url: url, deliveries } = partner;
  const isWithin = (time: string | null, ms: number) => time !== null && now - Date.parse(time) < ms;
  if (!isActive) return <Status tone="quiet">Revoked</Status>;
  if (url === '') return <Status tone="quiet">No webhook</Status>;
  if (deliveries.pending > 0 && !isWithin(deliveries.oldest_pending_at, LATE_MS)) {
    return <Status tone="late">Not answering</Status>;
  }
  if (isWithin(deliveries.last_failed_at, RECENT_MS)) return <Status tone="warn">Failed today</Status>;
  return <Reached id={partner.id} />;
}

/** A webhook that has got nothing yet may be anything, so it is not called healthy. */
function Reached({ id }: { id: string }) {
  const query = { credential_id: id, status: 'delivered', limit: 1 } as const;
  const { data } = useQuery(read('listWebhookDeliveries', { query }, ['events']));
  if (data === undefined) return null;
  const isReached = data.results.length > 0;
  return <Status tone={isReached ? 'good' : 'quiet'}>{isReached ? 'Healthy' : 'Nothing sent lately'}</Status>;
}
