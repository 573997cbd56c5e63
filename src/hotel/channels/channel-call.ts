import type { Feature } from '#access/tenants/tenants.ts';

/** Call with which an OTA sends a reservation to the receiver: the channel and its tenant, the timestamp and the signature. */
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
