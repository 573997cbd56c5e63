import { useEffect } from 'react';

/** Keeps the screen of the device on while the component is shown. A browser takes this back when the page hides. */
export function useWakeLock(isOn: boolean): void {
  useEffect(() => {
    if (!isOn || !('wakeLock' in navigator)) return;
    let lock: WakeLockSentinel | null = null;
    let isOver = false;
    const keepAwake = async () => {
      if (document.visibilityState !== 'visible') return;
      try {
        lock = await navigator.wakeLock.request('screen');
        if (isOver) await lock.release();
      } catch {
        // A device with an empty battery refuses. The board works without it.
      }
    };
    const onVisible = () => void keepAwake();
    onVisible();
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      isOver = true;
      document.removeEventListener('visibilitychange', onVisible);
      void lock?.release();
    };
  }, [isOn]);
}

/** Fills the device's screen, or gives it back. A browser agrees only within a press. */
export function setFullScreen(isOn: boolean): void {
  const change = isOn ? document.documentElement.requestFullscreen?.() : leaveFullScreen();
  change?.catch(() => {});
}

async function leaveFullScreen(): Promise<void> {
  if (document.fullscreenElement !== null) await document.exitFullscreen();
}
