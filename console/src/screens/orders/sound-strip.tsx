import classes from './board.module.css';
import { allowSound, setMuted, type Sound, touch } from './sound.ts';

/** Says that the browser holds the sound back, or that new orders ring. */
export function SoundStrip({ sound: { isHeldBack, isMuted, ringing } }: { sound: Sound }) {
  if (isHeldBack) {
    return (
      <div className={classes.strip} data-tone="quiet">
        <span>This browser is silent until you press something once.</span>
        <span className={classes.stripActions}>
          <button type="button" className={classes.stripButton} onClick={allowSound}>
            Turn the sound on
          </button>
          <button type="button" className={classes.stripButton} onClick={() => setMuted(true)}>
            Keep it silent
          </button>
        </span>
      </div>
    );
  }
  if (isMuted || ringing.size === 0) return null;
  return (
    <div className={classes.strip} data-tone="accent">
      <span>
        {ringing.size === 1 ? 'A new order waits.' : `${ringing.size} new orders wait.`} It rings until it is touched.
      </span>
      <button type="button" className={classes.stripButton} onClick={() => touch(...ringing)}>
        Stop ringing <kbd>s</kbd>
      </button>
    </div>
  );
}
