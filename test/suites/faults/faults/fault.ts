import type { World } from '../world.ts';

/**
 * A fault that the suite causes while the simulated clients make calls. The functions of the fault get an object of the type `In`, which
 * has the servers and the processes of the run. For example, a fault of the cluster needs a `ClusterWorld`, because only this type has the
 * nodes of the database.
 */
export interface Fault<In extends World> {
  name: string;
  /** True if the fault interrupts deliveries under way. Such deliveries are retried after the end of their lease. */
  interruptsDeliveries?: boolean;
  /** True if a run with `--short` includes the fault. */
  isShort?: boolean;
  /** Returns the reason why this machine cannot cause the fault, or null if it can. */
  reasonToSkip?(world: In): string | null;
  /** Causes the fault, waits until it has had an effect, and restores the previous state. */
  strike(world: In): Promise<void>;
  /** Called after each `strike`, also if it failed. Restores the previous state if `strike` has not restored it. */
  heal?(world: In): Promise<void>;
}
