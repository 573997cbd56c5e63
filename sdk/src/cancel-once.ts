import { RoomserviceError } from './errors.ts';

/**
 * Cancels an order or a reservation, and succeeds even if the response to the first attempt was lost. After a lost response the SDK sends
 * the request again. The service refuses the second request, because the order or reservation is already cancelled. This function then
 * reads the order or reservation, and returns it if its status is `cancelled`.
 * @throws RoomserviceError if the cancel fails for any other reason
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
