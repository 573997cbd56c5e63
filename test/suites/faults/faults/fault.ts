import type { World } from '../world.ts';

/** A fault that the suite causes while the simulated clients make calls. */
export interface Fault<In extends World> {
  name: string;
  /** True if the fault interrupts deliveries under way. Such deliveries are retried after the end of their lease. */
  interruptsDeliveries?: boolean;
  /** True if a run with `--short` includes the fault. */
  isShort?: boolean;
  /** Returns the reason why this machine cannot cause the fault, or null if it can. */
  reasonToSkip?(world: In): string | null;
  /** Causes the fault and waits until it has had an effect. */
  strike(world: In): Promise<void>;
  /** Restores the previous state. Called after each `strike`, also if it failed. */
  heal?(world: In): Promise<void>;
}
