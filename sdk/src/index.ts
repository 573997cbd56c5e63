/** Exports the public interface of `@roomservice-hub/sdk`. */
export { RoomserviceError } from './errors.ts';
export type { ClientErrorCode, ErrorCode, ServiceErrorCode } from './errors.ts';
export type { Events, EventPage, EventsQuery, FeedEntry, Webhook, WebhookRegistration } from './events.ts';
export type {
  Availability,
  AvailabilityQuery,
  Hotel,
  Reservation,
  ReservationCreate,
  ReservationQuote,
  ReservationQuoteQuery,
  Reservations,
  ReservationStatus,
  RoomType,
} from './hotel.ts';
export type { CallOptions, ClientOptions } from './options.ts';
export type { ListQuery } from './pages.ts';
export type {
  Dish,
  Menu,
  Order,
  OrderCreate,
  OrderQuote,
  OrderQuoteRequest,
  Orders,
  OrderStatus,
} from './restaurant.ts';
export { Roomservice } from './roomservice.ts';
export { RoomservicePms } from './roomservice-pms.ts';
export type {
  PmsInventoryEntry,
  PmsProperty,
  PmsRate,
  PmsReservation,
  PmsRoomType,
} from './roomservice-pms.ts';
export { verifyWebhook, WebhookVerificationError } from './verify-webhook.ts';
export type { VerifyOptions, WebhookFault, WebhookHeaders } from './verify-webhook.ts';
export type {
  OrderStatusChanged,
  ReservationCancelled,
  ReservationCreated,
  ReservationModified,
  WebhookEvent,
  WebhookTest,
} from './webhook-event.ts';
