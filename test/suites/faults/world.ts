import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from '../../support/redis.ts';
import type { Follower } from './actors/followers.ts';
import type { Client, Load } from './client.ts';
import type { Database } from './database.ts';
import type { Findings } from './findings.ts';
import type { History } from './history.ts';
import type { TcpProxy } from './proxy.ts';
import type { Random } from './random.ts';
import type { Hook, PostLog } from './receivers.ts';
import type { ServiceProcess } from './service-process.ts';
import type { Partner, Tenant } from './tenants.ts';

/** Number of receivers that misbehave during some faults. They come first in the list of receivers, and never count as healthy. */
export const FAILING_RECEIVERS = 10;

/** A process of the service, and the proxy between it and the database. */
export type LinkedProcess = ServiceProcess & { link: TcpProxy };

export interface Machines {
  postgres: Database;
  redis: Redis | undefined;
  apis: [LinkedProcess, LinkedProcess];
  workers: [LinkedProcess, LinkedProcess];
  balancer: { readonly url: string };
}

export interface World extends Machines {
  random: Random;
  findings: Findings;
  history: History;
  posts: PostLog;
  client: Client;
  load: Load;
  tenants: Tenant[];
  /** Partners, one for each receiver, in the order of the receivers. */
  partners: Partner[];
  /**
   * Partner whose budget of calls the suite checks. It is null during a fault of Redis and for some time after it, because the suite then
   * does not know how many calls the service has counted.
   */
  budgeted: Partner | null;
  failingHooks: Hook[];
  followers: Follower[];
  impostorPort: number;
  /** Partners whose webhook secret the suite knows and whose deliveries it can check, by credential id. */
  knownPartners: Map<string, Partner>;
  /** Partner, with its receiver, for faults that watch a single delivery, for example to kill a worker during this delivery. */
  witness: { partner: Partner; hook: Hook };
  newHook(): Promise<Hook>;
}

export interface Fault<In extends World> {
  name: string;
  /** True if the fault interrupts deliveries under way. Such deliveries are retried after the end of their lease. */
  interruptsDeliveries?: boolean;
  isShort?: boolean;
  /** Returns the reason why this machine cannot cause the fault, or null if it can. */
  reasonToSkip?(world: In): string | null;
  /** Causes the fault and waits until it has had an effect. */
  strike(world: In): Promise<void>;
  /** Restores the previous state. Called after each `strike`, also if it failed. */
  heal?(world: In): Promise<void>;
}

export function healthyUrls({ partners }: World): Set<string> {
  return new Set(partners.slice(FAILING_RECEIVERS).map(({ webhookUrl }) => webhookUrl));
}

export function processesOf({ apis, workers }: World): LinkedProcess[] {
  return [...apis, ...workers];
}

/**
 * Waits until the condition is true.
 * @returns the duration in milliseconds, or undefined if the condition is still false after the time limit
 */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  everyMs = 20,
): Promise<number | undefined> {
  const beganAtMs = performance.now();
  while (performance.now() - beganAtMs < timeoutMs) {
    if (await condition()) {
      return performance.now() - beganAtMs;
    }
    await sleep(everyMs);
  }
  return undefined;
}
