import type { ChangeActor } from '#access/actors/actors.ts';
import type { NightChangeKind } from './night-schema.ts';

/** Change that the history of a night shows: a change of a stay, of a price, of a restriction or of the capacity. */
export interface NightChange {
  id: string;
  at: Date;
  what: NightChangeKind;
  actor: ChangeActor;
  /** Number that the change added to the held rooms of the night: -1, 0 or 1. */
  added: number;
  externalSource: string | null;
}
