import type { ChangeActor } from '#access/actors/actors.ts';
import type { NightChangeKind } from './night-schema.ts';

/** Change that concerns a night: of a stay, a price, a restriction or the capacity. */
export interface NightChange {
  id: string;
  at: Date;
  what: NightChangeKind;
  actor: ChangeActor;
  /** Number that the change added to the held rooms of the night: -1, 0 or 1. */
  added: number;
  externalSource: string | null;
  /** False if this is a booking by an earlier version of the service. The history may then lack later changes of the stay. */
  isRecorded: boolean;
}
