import type { Feature } from '#access/tenants/tenants.ts';

/** Channel and tenant of a call to the receiver, with the timestamp and the signature of the call. */
export interface ChannelCall {
  tenantId: number;
  source: string;
  features: Feature[];
  currency: string;
  /** Signed time of the call in Unix seconds. */
  timestamp: number;
  signature: string;
}
