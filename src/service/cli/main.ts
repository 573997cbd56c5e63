import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import {
  type Config,
  misspelledVariables,
  readConfig,
  readPartnerApiKey,
  readPartnerConfig,
} from '#platform/config.ts';
import { OperatorError } from '#platform/errors.ts';
import { EVENT_TYPES, type EventType } from '#webhooks/events/event-types.ts';
import { isInterrupted } from './interruption.ts';
import type { ServeOptions } from './serve.ts';
import type { ApplyFlags } from './tenant.ts';
import { notify } from './terminal.ts';

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

/** Reads the configuration, and names on stderr what looks like a slip in it. */
function configure(): Config {
  for (const warning of misspelledVariables()) {
    notify(`roomservice: ${warning}`);
  }
  return readConfig();
}

/** A command's code is loaded when it is called: help and usage faults come at once, and no command waits for the others. */
function buildProgram(): Command {
  const program = new Command('roomservice').description(
    "One dependable way into a hotel's rooms and a restaurant's kitchen.",
  );
  program.exitOverride().showHelpAfterError('(roomservice --help shows what there is)');
  program
    .command('serve')
    .description('bring the database up to date, then run the API and the deliveries')
    .option(
      '--demo',
      'make the demo tenant where the embedded database has no tenant yet, and move its orders and stays along',
    )
    .option('--demo-speed <times>', 'how many times as fast as life they move along (default: 1)', positiveNumber)
    .addOption(new Option('--only <part>', 'run one of the two').choices(['api', 'worker']))
    .action(async (options: ServeOptions, command: Command) => {
      if (options.demoSpeed !== undefined && (!options.demo || options.only === 'api')) {
        command.error('error: --demo-speed goes with --demo, and not with --only api');
      }
      const config = configure();
      const { serve } = await import('./serve.ts');
      await serve(config, options);
    });
  program
    .command('migrate')
    .description('bring the database up to date')
    .action(async () => {
      const config = configure();
      const { migrate } = await import('./migrate.ts');
      await migrate(config);
    });
  program
    .command('demo')
    .description('make the demo tenant where it is missing, and issue a new sign-in and credential')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const config = configure();
      const { demo } = await import('./demo.ts');
      await demo(config, options);
    });
  addDeveloperCommands(program);
  addTenantCommands(program);
  addMaintenanceCommands(program);
  return program;
}

/** For who integrates with the service: on a laptop, and on the demo tenant. */
function addDeveloperCommands(program: Command): void {
  program
    .command('listen')
    .description('print the events of a credential as they happen, and hand them on to a server of yours')
    .option(
      '--forward-to <url>',
      'post each event there, signed as the service signs it (any http or https URL)',
      parseTarget,
    )
    .option('--events <names>', `only these, with commas between them: ${EVENT_TYPES.join(', ')}`, parseEvents)
    .option('--json', 'print one line of JSON an event')
    .option('--url <url>', 'where the service is (default: ROOMSERVICE_URL, BASE or http://localhost:8080)')
    .option('--api-key <key>', 'whose events (default: ROOMSERVICE_API_KEY or KEY)')
    .option('--allow-plain-http', 'let key and secret go to another machine without TLS, on a network of your own')
    .addHelpText(
      'after',
      '\nThe API secret is read from ROOMSERVICE_API_SECRET, ROOMSERVICE_API_SECRET_FILE or SECRET.',
    )
    .action(async (options: ListenFlags) => {
      const config = readPartnerConfig(options);
      const { listenToEvents } = await import('./listen.ts');
      const {
        forwardTo = null,
        events = null,
        json: isJson = false,
        allowPlainHttp: allowsPlainHttp = false,
      } = options;
      await listenToEvents(config, { forwardTo, events, isJson, allowsPlainHttp });
    });
  program
    .command('trigger')
    .description(
      'make a real event on the demo tenant: an order that moves on, a stay that is booked, changed or cancelled',
    )
    .addArgument(new Argument('<event>', 'what to make').choices(EVENT_TYPES))
    .option(
      '--api-key <key>',
      'whose event (default: ROOMSERVICE_API_KEY or KEY, else the newest credential of the demo tenant)',
    )
    .option('--json', 'print JSON')
    .action(async (event: EventType, options: { apiKey?: string; json?: boolean }) => {
      const config = configure();
      const { trigger } = await import('./trigger.ts');
      await trigger(config, event, { ...options, apiKey: readPartnerApiKey(options.apiKey) });
    });
}

interface ListenFlags {
  forwardTo?: URL;
  events?: EventType[];
  json?: boolean;
  url?: string;
  apiKey?: string;
  allowPlainHttp?: boolean;
}

function parseTarget(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError('It is a URL such as http://localhost:3000/hooks, without user name and password.');
  }
  return url;
}

function parseEvents(text: string): EventType[] {
  return text.split(',').map((part) => {
    const name = part.trim();
    const event = EVENT_TYPES.find((known) => known === name);
    if (event === undefined) {
      throw new InvalidArgumentError(`There is no event "${name}". There are ${EVENT_TYPES.join(', ')}.`);
    }
    return event;
  });
}

function addTenantCommands(program: Command): void {
  const tenant = program.command('tenant').description('tenants, each described by one JSON file');
  tenant
    .command('apply <file>')
    .description('create the tenant or bring it to what the file says, and tell what was changed')
    .option('--dry-run', 'tell what would be changed, and change nothing')
    .option('--json', 'print JSON')
    .action(async (file: string, options: ApplyFlags) => {
      const config = configure();
      const { applyTenant } = await import('./tenant.ts');
      await applyTenant(config, file, options);
    });
  tenant
    .command('list')
    .description('list the tenants')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const config = configure();
      const { printTenants } = await import('./tenant.ts');
      await printTenants(config, options);
    });
}

/** What is done beside a running service, now and then. */
function addMaintenanceCommands(program: Command): void {
  program
    .command('nights')
    .description('the counters of rooms held on each night')
    .command('verify')
    .description('count them again from the reservations and report any difference')
    .option('--tenant <slug>', 'one tenant alone')
    .option('--json', 'print JSON')
    .action(async (options: { tenant?: string; json?: boolean }) => {
      const config = configure();
      const { verifyNights } = await import('./nights.ts');
      await verifyNights(config, options);
    });
  const keys = program.command('keys').description("the service's own keys");
  keys
    .command('rewrap')
    .description('replace the master key: wrap by MASTER_KEY what only MASTER_KEY_PREVIOUS opens')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const config = configure();
      const { rewrapKeys } = await import('./keys.ts');
      await rewrapKeys(config, options);
    });
  keys
    .command('rotate')
    .description('make a new encryption key and encrypt every stored secret with it, while the service runs')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const config = configure();
      const { rotateKeys } = await import('./keys.ts');
      await rotateKeys(config, options);
    });
}

/** @throws InvalidArgumentError, which is a usage fault */
function positiveNumber(text: string): number {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (!(number > 0 && Number.isFinite(number))) {
    throw new InvalidArgumentError('It must be a number above 0, such as 60 or 0.5.');
  }
  return number;
}

/** Says what went wrong on stderr. @returns the exit code */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? 0 : EXIT_USAGE;
  }
  if (isInterrupted()) {
    return EXIT_FAILED;
  }
  console.error(error instanceof OperatorError ? `roomservice: ${error.message}` : error);
  return EXIT_FAILED;
}
