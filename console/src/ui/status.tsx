import classes from './status.module.css';

export type Tone = 'accent' | 'good' | 'warn' | 'late' | 'quiet';

/** Word for a status, with a colour and a shape of its own, so that the colour alone says nothing. */
export function Status({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={classes.status} data-tone={tone}>
      <span className={classes.mark} aria-hidden="true" />
      {children}
    </span>
  );
}
