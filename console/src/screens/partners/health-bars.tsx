import type { Answer } from '../../api/client.ts';
import { useFormat } from '../../ui/format.ts';
import classes from './health-bars.module.css';

type Health = Answer<'getStaffCredential'>['health'];

/** Deliveries of the last 24 hours, an hour a bar: what was accepted, what waits, what failed. */
export function HealthBars({ health }: { health: Health }) {
  const { clock } = useFormat();
  const { hours } = health;
  const most = Math.max(1, ...hours.map(({ delivered, failed, pending }) => delivered + failed + pending));
  const sum = (key: 'delivered' | 'failed' | 'pending') => hours.reduce((total, hour) => total + hour[key], 0);
  const last = hours.findLast(({ p50_ms: p50 }) => p50 !== null);
  return (
    <figure className={classes.figure}>
      <div className={classes.bars} aria-hidden="true">
        {hours.map((hour) => (
          <div
            key={hour.at}
            className={classes.hour}
            title={`${clock(hour.at)}: ${hour.delivered} delivered, ${hour.pending} waiting, ${hour.failed} failed`}
          >
            {(['failed', 'pending', 'delivered'] as const).map((key) => (
              <div key={key} className={classes[key]} style={{ height: `${(hour[key] / most) * 100}%` }} />
            ))}
          </div>
        ))}
      </div>
      <figcaption className={classes.caption}>
        {sum('delivered').toLocaleString()} delivered, {sum('pending').toLocaleString()} waiting,{' '}
        {sum('failed').toLocaleString()} failed
        {last && (
          <>
            . Answers in {last.p50_ms} ms, the slowest twentieth in {last.p95_ms} ms or more
          </>
        )}
        .
      </figcaption>
    </figure>
  );
}
