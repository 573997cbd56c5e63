import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { useNow } from '../../live/clock.ts';
import { useFormat } from '../../ui/format.ts';
import { press } from '../../ui/press.ts';
import { Strip } from '../../ui/strip.tsx';

/** Whether the restaurant takes orders. */
export const pauseQuery = read('getPause', {}, ['pause']);

function resume(): void {
  const end = async () => queryClient.setQueryData(pauseQuery.queryKey, await call('endPause', {}));
  void press('Orders', 'taken again', end);
}

/** Says calmly that no orders come, why, and until when. */
export function ClosedStrip() {
  const { data } = useQuery(pauseQuery);
  const now = useNow(10_000);
  const { moment } = useFormat();
  if (data === undefined || data.is_open) return null;
  const { until, reason, reopens_at: reopensAt } = data;
  // The opening hours alone give neither an end nor a reason, but they always know when the restaurant opens.
  if (until === null && reason === null && reopensAt !== null) {
    return <Strip>Closed by the opening hours. Partners can order again from {moment(reopensAt, now)}.</Strip>;
  }
  return (
    <Strip actions={[['Take orders again', resume]]}>
      <b>Orders are paused{until !== null && ` until ${moment(until, now)}`}.</b> {reason} Partners are told that the
      restaurant is closed.
    </Strip>
  );
}
