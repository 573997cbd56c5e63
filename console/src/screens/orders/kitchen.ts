import { useDocumentVisibility } from '@mantine/hooks';
import { useEffect } from 'react';

/** Keeps the screen of the device on while the component is shown. A browser takes this back when the page hides. */
export function useWakeLock(isOn: boolean): void {
  const isVisible = useDocumentVisibility() === 'visible';
  useEffect(() => {
    if (!isOn || !isVisible || !('wakeLock' in navigator)) return;
    // A device with an empty battery refuses. The board works without it.
    const lock = navigator.wakeLock.request('screen').catch(() => null);
    return () => void lock.then((held) => held?.release());
  }, [isOn, isVisible]);
}

/** Fills the device's screen, or gives it back. A browser agrees only within a press. */
export function setFullScreen(isOn: boolean): void {
  const isFull = document.fullscreenElement !== null;
  const change = isOn ? document.documentElement.requestFullscreen?.() : isFull && document.exitFullscreen();
  if (change) change.catch(() => {});
}
