import { Strip } from '../../ui/page.tsx';
import { allowSound, setMuted, type Sound, touch } from './sound.ts';

/** Says that the browser holds the sound back, or that new orders ring. */
export function SoundStrip({ sound: { isHeldBack, isMuted, ringing } }: { sound: Sound }) {
  if (isHeldBack) {
    return (
      <Strip
        tone="quiet"
        actions={[
          ['Turn the sound on', allowSound],
          ['Keep it silent', () => setMuted(true)],
        ]}
      >
        This browser is silent until you press something.
      </Strip>
    );
  }
  if (isMuted || ringing.size === 0) return null;
  return (
    <Strip tone="accent" actions={[['Stop ringing', () => touch(...ringing)]]}>
      {ringing.size === 1 ? 'A new order waits.' : `${ringing.size} new orders wait.`} It rings until it is touched.
    </Strip>
  );
}
