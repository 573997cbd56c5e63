import { useConnection } from '../live/live.ts';
import classes from './connection.module.css';
import { useFormat } from './format.ts';
import { Strip } from './strip.tsx';

/** Says how old a live screen is. */
export function ConnectionState() {
  const { state, since } = useConnection();
  const { clock, clockWithSeconds } = useFormat();
  const text = {
    live: 'Live',
    reconnecting: `Reconnecting, as of ${clockWithSeconds(since)}`,
    offline: `Offline since ${clock(since)}`,
  }[state];
  return (
    <span className={classes.state} data-state={state} role="status">
      <span className={classes.dot} aria-hidden="true" />
      {text}
    </span>
  );
}

/** Strip over a board that nobody should trust any more. */
export function OfflineStrip() {
  const { state, since } = useConnection();
  const { clock } = useFormat();
  if (state !== 'offline') return null;
  return (
    <div role="alert">
      <Strip tone="late">
        No connection since {clock(since)}. What you see is from then; new orders are not shown. Presses are sent when
        the connection is back, within a minute.
      </Strip>
    </div>
  );
}
