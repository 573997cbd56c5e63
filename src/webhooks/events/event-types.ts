/** Contract §6. A file of its own, so that the command line may name them without loading what makes them. */
export const EVENT_TYPES = [
  'order.status_changed',
  'reservation.created',
  'reservation.modified',
  'reservation.cancelled',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
