import { accessTamperings } from './access.ts';
import { rowTamperings } from './rows.ts';
import type { Tampering } from './tampering.ts';
import { webhookTamperings } from './webhooks.ts';

export type { Tampering } from './tampering.ts';
export const TAMPERINGS: readonly Tampering[] = [...rowTamperings, ...webhookTamperings, ...accessTamperings];
