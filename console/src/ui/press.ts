import { notifications } from '@mantine/notifications';
import { Refused } from '../api/client.ts';
import { sendWhenBack } from '../live/held-write.ts';

interface Write<Row> {
  /** Carries the status that the person saw, so that it counts only if nobody was first. */
  send: () => Promise<Row>;
  read: () => Promise<Row>;
  keep: (row: Row) => Promise<Row>;
  explain: (now: Row) => string;
}

class Overtaken extends Error {}

/** Changes a row once. If that fails, the row is read again. @throws Overtaken, Refused, and what `sendWhenBack` throws after a minute */
export async function write<Row>({ send, read, keep, explain }: Write<Row>): Promise<Row> {
  try {
    return await keep(await sendWhenBack(send));
  } catch (error) {
    const reading = read().then(keep, () => null);
    const isOvertaken = error instanceof Refused && error.code === 'invalid_status_transition';
    const now = isOvertaken ? await reading : null;
    if (now === null) throw error;
    throw new Overtaken(explain(now));
  }
}

/** Runs a write of a press, and tells why it did not count. @returns true if it did */
export async function press(subject: string, what: string, run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    const { message } = error as Error;
    const notice =
      error instanceof Overtaken
        ? { title: subject, color: 'yellow', autoClose: 8_000 }
        : { title: `${subject}: not ${what}`, color: 'red', autoClose: false };
    notifications.show({ ...notice, message });
    return false;
  }
}
