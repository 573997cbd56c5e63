import type { Feature } from '#access/tenants/tenants.ts';

/**
 * Call with which an OTA (a booking site) sends a reservation to the service. It has the channel of the OTA, the tenant of the channel, the
 * timestamp and the signature.
 */
export interface ChannelCall {
  tenantId: number;
  channelId: string;
  source: string;
  features: Feature[];
  currency: string;
  /** Timestamp that the OTA signed, in Unix seconds. */
  timestamp: number;
  signature: string;
}
