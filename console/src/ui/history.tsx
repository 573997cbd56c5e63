import { useNow } from '../live/clock.ts';
import { useFormat } from './format.ts';
import classes from './history.module.css';
import { Waiting } from './waiting.tsx';

interface Actor {
  type: 'person' | 'display' | 'partner' | 'channel' | 'operator' | 'sandbox';
  name: string | null;
}

export interface Step {
  label: string;
  at: string;
  by: Actor;
  reason?: string | null;
}

const BY: Record<Actor['type'], string> = {
  sandbox: 'the simulated staff',
  operator: 'an operator',
  partner: 'the partner',
  display: 'a display',
  channel: 'a channel',
  person: 'somebody',
};

/** What happened to a thing, who did it, and when. */
export function History({ steps }: { steps: Step[] | undefined }) {
  const now = useNow(60_000);
  const { moment } = useFormat();
  if (steps === undefined) return <Waiting rows={2} />;
  return (
    <ol className={classes.history}>
      {steps.map(({ label, at, by, reason }, index) => (
        <li key={index}>
          <span className={classes.step}>{label}</span>
          <span className={classes.quiet}>by {by.name || BY[by.type]}</span>
          <time dateTime={at} className={classes.time}>
            {moment(at, now)}
          </time>
          {reason && <span className={classes.reason}>{reason}</span>}
        </li>
      ))}
    </ol>
  );
}

/** Says who was quicker than the person at this screen. */
export function whoWasFirst(by: Actor | undefined): string {
  const other = by === undefined ? 'somebody else' : BY[by.type];
  return `${by?.name || `${other[0]?.toUpperCase()}${other.slice(1)}`} was first.`;
}
