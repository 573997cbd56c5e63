import { useState } from 'react';
import { Refused } from '../../api/client.ts';
import { serverNow, useNow } from '../../live/clock.ts';

/** Sends a form, and holds its fault. After a 429 the form waits, and counts down. */
export function useSubmit(send: () => Promise<void>) {
  const [fault, setFault] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const [waitsUntil, setWaitsUntil] = useState(0);
  const waitSeconds = Math.max(0, Math.ceil((waitsUntil - useNow()) / 1_000));
  const submit = async () => {
    setSending(true);
    setFault(null);
    try {
      await send();
    } catch (error) {
      if (error instanceof Refused && error.status === 429) {
        setWaitsUntil(serverNow() + (error.retryAfter ?? 60) * 1_000);
      } else {
        setFault((error as Error).message);
      }
    } finally {
      setSending(false);
    }
  };
  const message = waitSeconds > 0 ? `Too many attempts. Try again in ${waitSeconds} s.` : fault;
  return { submit: () => void submit(), message, isSending, isWaiting: waitSeconds > 0 };
}
