import { it } from 'node:test';
import { playNights } from './play.ts';

/** Number of random lists of turns. `npm run test:nights` plays more of them. */
const RUNS = 6;
const SEED = Date.now() % 1_000_000;

it(
  `random calls to two nodes, many of them at the same time, get the answers and leave the nights of the model, seed ${SEED}`,
  {
    timeout: 300_000,
  },
  () => playNights({ runs: RUNS, seed: SEED }),
);
