import { RoomserviceError } from './errors.ts';

/**
 * A cancel whose answer was lost is sent again, and then refused because the first one did it. So where a repeated
 * cancel is refused, what it was about is read: cancelled is what was asked for.
 */
export async function cancelOnce<T extends { status: string }>(
  cancel: () => Promise<T>,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await cancel();
  } catch (error) {
    const isRefusedRepeat =
      error instanceof RoomserviceError && error.code === 'invalid_status_transition' && error.attempts > 1;
    if (!isRefusedRepeat) throw error;
    const found = await read();
    if (found.status !== 'cancelled') throw error;
    return found;
  }
}
