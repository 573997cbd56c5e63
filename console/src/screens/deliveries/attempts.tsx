import classes from './attempts.module.css';
import { MAX_ATTEMPTS, outcomeOf } from './words.ts';

interface Attempt {
  http_status: number | null;
  error: string | null;
}

/** The attempts of a delivery as five dots: hollow to come, a tick or a cross for its outcome. */
export function AttemptDots({ attempts }: { attempts: Attempt[] }) {
  const words = attempts.map(outcomeOf).join(', ');
  return (
    <span
      className={classes.dots}
      role="img"
      aria-label={attempts.length === 0 ? 'No attempt yet' : `${attempts.length} of ${MAX_ATTEMPTS} attempts: ${words}`}
    >
      {Array.from({ length: MAX_ATTEMPTS }, (_, index) => (
        <span key={index} className={classes.dot} data-state={stateOf(attempts[index])} />
      ))}
    </span>
  );
}

function stateOf(attempt: Attempt | undefined): string {
  if (attempt === undefined) return 'none';
  if (attempt.error === null) return attempt.http_status === null ? 'under-way' : 'good';
  return 'failed';
}
