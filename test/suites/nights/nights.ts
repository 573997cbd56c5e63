// Plays more random lists of turns against the model of the nights than `npm test` does.
//
//   npm run test:nights -- [--runs N] [--seed N]
import { parseArgs } from 'node:util';
import { playNights } from './play.ts';

const DEFAULT_RUNS = '300';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: DEFAULT_RUNS },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [runs, seed] = [Number(values.runs), Number(values.seed)];
if (!(runs >= 1) || !Number.isInteger(seed)) {
  process.stdout.write('Usage: npm run test:nights -- [--runs N] [--seed N]\n');
  process.exitCode = 2;
} else {
  await playNights({ runs, seed });
  process.stdout.write(`${runs} runs, seed ${seed}: no difference\n`);
}
