import { Group } from '@mantine/core';
import { useConnection } from '../live/live.ts';
import { useFormat } from './format.ts';
import { Strip } from './strip.tsx';

/** Colour of each state, and how much of its dot is filled: all, a half, nothing. */
const DOTS = { live: ['good', '100%'], reconnecting: ['warn', '50%'], offline: ['late', '0%'] } as const;

/** Says how old a live screen is. */
export function ConnectionState() {
  const { state, since } = useConnection();
  const { clock, clockWithSeconds } = useFormat();
  const text = {
    live: 'Live',
    reconnecting: `Reconnecting, as of ${clockWithSeconds(since)}`,
    offline: `Offline since ${clock(since)}`,
  }[state];
  const [tone, filled] = DOTS[state];
  const colour = `var(--rs-${tone})`;
  const background = `linear-gradient(90deg, ${colour} ${filled}, transparent ${filled})`;
  const style = { width: 9, height: 9, border: `2px solid ${colour}`, borderRadius: '50%', background };
  return (
    <Group component="span" role="status" gap={7} fz="0.8125rem" c={state === 'live' ? 'dimmed' : colour}>
      <span style={style} aria-hidden="true" />
      {text}
    </Group>
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
