export { attemptsShape, type StoredAttempts } from './attempts.ts';
export { EVENT_TYPES, type EventType } from './event-types.ts';
export type { ClaimedDelivery, DueQueue, Lease, LocalDelivery } from './local-delivery.ts';
export { readIdsOfKinds } from './kinds-store.ts';
export { Attempt, DELIVERY_STATUSES, DeliveryStatus, EventSubject, type FeedEntry, type FeedPage } from './schema.ts';
export {
  createTransactionWithEvents,
  type EventInput,
  type RecordEvents,
  type TransactionWithEvents,
} from './transaction-with-events.ts';
