import { useEffect, useState } from 'react';

/** Server's time minus this device's time, in milliseconds. A tablet's clock may be an hour off. */
let offset = 0;

export function setServerTime(ms: number): void {
  offset = ms - Date.now();
}

/** Returns the present time in milliseconds by the server's clock. */
export function serverNow(): number {
  return Date.now() + offset;
}

/** Returns the server's time, and renders again at each tick of the given length in milliseconds. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    setNow(serverNow());
    const timer = setInterval(() => setNow(serverNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
