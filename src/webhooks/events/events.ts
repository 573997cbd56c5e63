/** Events and their feed, written in the transaction of their cause. */
export { attemptsShape, type StoredAttempts } from './attempts.ts';
export { EVENTS } from './catalogue.ts';
export { EVENT_TYPES, type EventType } from './event-types.ts';
export {
  Attempt,
  attemptsOf,
  DELIVERY_STATUSES,
  DeliveryStatus,
  EventSubject,
  type FeedEntry,
  type FeedPage,
  SUCCESSFUL_ATTEMPT,
} from './schema.ts';
export type { DueCredential } from './store.ts';
export {
  createTransactionWithEvents,
  type EventInput,
  type RecordEvents,
  type TransactionWithEvents,
  type Wake,
} from './transaction-with-events.ts';
