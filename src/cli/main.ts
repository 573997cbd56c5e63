import { Command, CommanderError, Option } from 'commander';
import { readConfig } from '../config.ts';
import { OperatorError } from '../errors.ts';
import { demo } from './demo.ts';
import { migrate } from './migrate.ts';
import { verifyNights } from './nights.ts';
import { serve } from './serve.ts';
import { applyTenant, printTenants } from './tenant.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Runs the command line and sets the exit code: 1 where the command failed, 2 where it was called wrongly. */
export async function main(argv: string[]): Promise<void> {
  try {
    await buildProgram().parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function buildProgram(): Command {
  const program = new Command('roomservice').description(
    "One dependable way into a hotel's rooms and a restaurant's kitchen.",
  );
  program.exitOverride().showHelpAfterError('(roomservice --help shows what there is)');
  program
    .command('serve')
    .description('bring the database up to date, then run the API and the deliveries')
    .option('--demo', 'make the demo tenant where the embedded database has no tenant yet')
    .addOption(new Option('--only <part>', 'run one of the two').choices(['api', 'worker']))
    .action((options: { demo?: boolean; only?: 'api' | 'worker' }) => serve(readConfig(), options));
  program
    .command('migrate')
    .description('bring the database up to date')
    .action(() => migrate(readConfig()));
  program
    .command('demo')
    .description('make the demo tenant where it is missing, and issue a new sign-in and credential')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => demo(readConfig(), options));
  const tenant = program.command('tenant').description('tenants, each described by one JSON file');
  tenant
    .command('apply <file>')
    .description('create the tenant or bring it to what the file says')
    .option('--json', 'print JSON')
    .action((file: string, options: { json?: boolean }) => applyTenant(readConfig(), file, options));
  tenant
    .command('list')
    .description('list the tenants')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => printTenants(readConfig(), options));
  program
    .command('nights')
    .description('the counters of rooms held on each night')
    .command('verify')
    .description('count them again from the reservations and report any difference')
    .option('--tenant <slug>', 'one tenant alone')
    .option('--json', 'print JSON')
    .action((options: { tenant?: string; json?: boolean }) => verifyNights(readConfig(), options));
  return program;
}

/** Says what went wrong on stderr. @returns the exit code */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? 0 : EXIT_USAGE;
  }
  console.error(error instanceof OperatorError ? `roomservice: ${error.message}` : error);
  return EXIT_FAILED;
}
