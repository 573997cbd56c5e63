// Starts a service, sends valid and hostile requests to every operation, and checks each response for faults that must
// never occur.
//
//   npm run test:fuzz -- [--cases N] [--seed N] [--only OPERATION] [--growth] [--replay LINE]
//
// `--growth` only measures how the response time grows with the size of the body. `--replay` sends one earlier case
// again. The report of a failure shows the LINE of its case.
import { parseArgs } from 'node:util';
import { type Case, describeCase, fromLine } from './cases.ts';
import { fuzz, measureGrowth, replay } from './run.ts';

const DEFAULT_CASES = 20_000;

const { values } = parseArgs({
  options: {
    cases: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    growth: { type: 'boolean', default: false },
    replay: { type: 'string' },
  },
});
process.exitCode =
  values.replay !== undefined ? await replayOne(values.replay) : values.growth ? await growth() : await fuzzAll();

async function growth(): Promise<number> {
  const faults = await measureGrowth(values.only, (name) => showProgress(name));
  showProgress('');
  faults.forEach((fault) => write(`\n${fault}`));
  write(`\nGrowth of time with size: ${faults.length} failures`);
  return faults.length === 0 ? 0 : 1;
}

async function fuzzAll(): Promise<number> {
  const cases = values.cases === undefined ? DEFAULT_CASES : Number(values.cases);
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  if (!(cases >= 1) || !Number.isInteger(seed)) {
    write('Usage: npm run test:fuzz -- [--cases N] [--seed N] [--only OPERATION] [--growth] [--replay LINE]');
    return 2;
  }
  const startedAt = performance.now();
  const only = values.only === undefined ? {} : { only: values.only };
  const report = await fuzz({
    cases,
    seed,
    ...only,
    onProgress: (done, target) => showProgress(`${done} of ${cases}: ${target}`),
  });
  showProgress('');
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  write(report.table);
  report.unseen.forEach((answer) => write(`No case got this response: ${answer}`));
  report.failures.forEach((failure) => write(`\n${failure}`));
  write(`\n${report.cases} cases in ${seconds} s, seed ${seed}: ${report.failures.length} failures`);
  return report.failures.length + report.unseen.length === 0 ? 0 : 1;
}

async function replayOne(line: string): Promise<number> {
  let each: Case;
  try {
    each = fromLine(line);
  } catch {
    write('The line after --replay is incomplete. Copy the whole word.');
    return 2;
  }
  write(describeCase(each));
  const { faults, statuses } = await replay(each);
  write(`Statuses of the responses: ${statuses.join(', ') || 'no response'}`);
  faults.forEach(write);
  return faults.length === 0 ? 0 : 1;
}

/**
 * Shows the text in place of the previous progress line of the terminal. Does nothing if the output is not a terminal.
 */
function showProgress(text: string): void {
  if (process.stdout.isTTY) {
    process.stdout.write(`\r\u001b[K${text}`);
  }
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}
