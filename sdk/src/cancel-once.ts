import { RoomserviceError } from './errors.ts';

/**
 * Cancels an order or a reservation. If the response to the first request is lost, the SDK sends the request again. The service refuses the
 * second request if the first one has already cancelled the order or reservation. After such a refusal, this function reads the order or
 * reservation, and returns it if its status is `cancelled`.
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
