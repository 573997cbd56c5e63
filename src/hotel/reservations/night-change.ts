import type { ChangeActor } from '#access/actors/actors.ts';
import type { NightChangeKind } from './night-schema.ts';

/** Change that concerns a night. */
export interface NightChange {
  id: string;
  at: Date;
  what: NightChangeKind;
  actor: ChangeActor;
  /** Number of rooms by which the change raised the number of held rooms: -1, 0 or 1. */
  added: number;
  externalSource: string | null;
  /** False if later changes of the stay may be missing, because an earlier version booked it. */
  isRecorded: boolean;
}
