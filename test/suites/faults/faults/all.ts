import { callerFaults } from './callers.ts';
import { databaseFaults } from './database.ts';
import type { SurroundingsWorld } from '../surroundings.ts';
import type { Fault } from './fault.ts';
import { processFaults } from './processes.ts';
import { receiverFaults } from './receivers.ts';

/**
 * All faults, in the order in which the suite causes them. Faults of receivers come first, because deliveries to a hanging receiver take
 * long. All five attempts of these deliveries should end before the last fault.
 */
export const FAULTS: readonly Fault<SurroundingsWorld>[] = [
  ...receiverFaults,
  ...processFaults,
  ...databaseFaults,
  ...callerFaults,
];
