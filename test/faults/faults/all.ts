import { callerFaults } from './callers.ts';
import { databaseFaults } from './database.ts';
import type { Fault } from './fault.ts';
import { processFaults } from './processes.ts';
import { receiverFaults } from './receivers.ts';

/** In the order of a round: receivers first, so that five attempts at those that hang are over when the round is. */
export const FAULTS: readonly Fault[] = [...receiverFaults, ...processFaults, ...databaseFaults, ...callerFaults];
