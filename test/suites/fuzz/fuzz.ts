// Starts a service, sends valid and hostile requests to every operation, and checks each response for faults that must never occur.
//
//   npm run test:fuzz -- [--cases N] [--seed N] [--only TARGET]
import { parseArgs } from 'node:util';
import { fuzz } from './run.ts';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: 'string' },
  },
});
const { cases, seed, only } = values;
const failures = await fuzz({ cases: Number(cases), seed: Number(seed), only, print: console.log });
failures.forEach((failure) => console.log(`\n${failure}`));
console.log(`\n${cases} cases in ${Math.round(performance.now() / 1000)} s, seed ${seed}: ${failures.length} failures`);
process.exitCode = failures.length === 0 ? 0 : 1;
