/** Names of the events (contract §6). They are in a separate file, so that a command can load them without the code that writes events. */
export const EVENT_TYPES = [
  'order.status_changed',
  'reservation.created',
  'reservation.modified',
  'reservation.cancelled',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
