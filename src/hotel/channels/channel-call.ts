import type { Feature } from '#access/tenants/tenants.ts';

/** The OTA behind a call that was signed rightly, and when it was signed. */
export interface ChannelCall {
  tenantId: number;
  source: string;
  features: Feature[];
  currency: string;
  /** Unix seconds, as signed. */
  timestamp: number;
  signature: string;
}
