import type { World } from '../world.ts';

/** One way in which things go wrong, while the load goes on. */
export interface Fault {
  name: string;
  /** Whether it breaks off deliveries under way: they are tried again when their lease runs out. */
  interruptsDeliveries?: boolean;
  /** Part of the short form. */
  isShort?: boolean;
  /** Why this machine cannot make it; null where it can. */
  whyNot?(world: World): string | null;
  /** Makes it, lasts as long as it takes to hurt, and puts everything back as it was. */
  strike(world: World): Promise<void>;
  /** Puts back what `strike` could not, where it failed half way. Harmless otherwise. */
  heal?(world: World): Promise<void>;
}
