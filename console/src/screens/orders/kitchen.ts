import { useEffect } from 'react';

/** Keeps the screen of the device on while the component is shown. A browser takes this back when the page hides. */
export function useWakeLock(isOn: boolean): void {
  useEffect(() => {
    if (!isOn || !('wakeLock' in navigator)) return;
    let lock: Promise<WakeLockSentinel | null> = Promise.resolve(null);
    const keepAwake = () => {
      // A device with an empty battery refuses. The board works without it.
      if (document.visibilityState === 'visible') lock = navigator.wakeLock.request('screen').catch(() => null);
    };
    keepAwake();
    document.addEventListener('visibilitychange', keepAwake);
    return () => {
      document.removeEventListener('visibilitychange', keepAwake);
      void lock.then((held) => held?.release());
    };
  }, [isOn]);
}

/** Fills the device's screen, or gives it back. A browser agrees only within a press. */
export function setFullScreen(isOn: boolean): void {
  const isFull = document.fullscreenElement !== null;
  const change = isOn ? document.documentElement.requestFullscreen?.() : isFull && document.exitFullscreen();
  if (change) change.catch(() => {});
}
