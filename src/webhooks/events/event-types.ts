/** Names of the events (contract §6). They have their own file, so that the command line can load them without the code of the events. */
export const EVENT_TYPES = [
  'order.status_changed',
  'reservation.created',
  'reservation.modified',
  'reservation.cancelled',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
