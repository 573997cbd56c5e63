import type { World } from '../world.ts';

/** A fault that the suite causes during the load. */
export interface Fault {
  name: string;
  /** True if the fault interrupts deliveries under way. These are retried after the end of their lease. */
  interruptsDeliveries?: boolean;
  /** True if the short form of the suite includes the fault. */
  isShort?: boolean;
  /** Returns the reason why this machine cannot cause the fault, or null if it can. */
  reasonToSkip?(world: World): string | null;
  /** Causes the fault, waits until it has had an effect, and restores the previous state. */
  strike(world: World): Promise<void>;
  /** Restores what `strike` has not restored after an error. Has no effect if nothing is left to restore. */
  heal?(world: World): Promise<void>;
}
