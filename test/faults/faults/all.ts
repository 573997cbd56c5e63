import { callerFaults } from './callers.ts';
import { databaseFaults } from './database.ts';
import type { Fault } from './fault.ts';
import { processFaults } from './processes.ts';
import { receiverFaults } from './receivers.ts';

/**
 * All faults in the order of a round. Faults of receivers come first, so that five attempts at receivers that hang end
 * within the round.
 */
export const FAULTS: readonly Fault[] = [...receiverFaults, ...processFaults, ...databaseFaults, ...callerFaults];
