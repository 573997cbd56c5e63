import { useEffect, useState } from 'react';
import { Refused } from '../../api/client.ts';

/** Sends a form, and holds its fault. After a 429 the form waits, and counts down. */
export function useSubmit(send: () => Promise<void>) {
  const [fault, setFault] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const [waitSeconds, setWaitSeconds] = useState(0);
  useEffect(() => {
    if (waitSeconds === 0) return;
    const timer = setTimeout(() => setWaitSeconds(waitSeconds - 1), 1_000);
    return () => clearTimeout(timer);
  }, [waitSeconds]);
  const submit = async () => {
    setSending(true);
    setFault(null);
    try {
      await send();
    } catch (error) {
      if (error instanceof Refused && error.status === 429) {
        setWaitSeconds(error.retryAfter ?? 60);
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
