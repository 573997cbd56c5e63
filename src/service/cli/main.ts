import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type Config, misspelledVariables, readConfig, readPartnerConfig } from '#platform/config.ts';
import { OperatorError } from '#platform/errors.ts';
import { InvalidValueError, parseDatabaseUrl } from '#platform/lib/setting-values.ts';
import { asPlainText, SETTINGS, shortMeaning } from '#platform/settings.ts';
import { EVENT_TYPES, type EventType } from '#webhooks/events/event-types.ts';
import type { BackupFlags } from './backup.ts';
import type { ServeOptions } from './serve.ts';
import type { ApplyFlags } from './tenant.ts';
import { exitOnSignal, isInterrupted, notify, type OutputOptions, print } from './terminal.ts';
import { readVersion } from '../version.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** Width of the help in characters if stdout is not a terminal. */
const DEFAULT_WIDTH = 80;

/** Runs the command line and sets the exit code: 1 if the command failed, 2 if the command or an option is wrong. */
export async function main(argv: string[]): Promise<void> {
  try {
    const program = buildProgram().version(await readVersion(), '--version', 'print the version');
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

/**
 * Creates the command line. The code of each command is loaded only when this command is called. So help and usage errors come immediately,
 * and a command does not load the code of other commands.
 */
function buildProgram(): Command {
  const program = new Command('roomservice').description(
    "Connects outside platforms to a hotel's rooms and a restaurant's kitchen.",
  );
  program.exitOverride().showHelpAfterError('(roomservice --help lists the commands)');
  program.addHelpText('after', ({ command }) => describeSettings(command));
  program
    .command('serve')
    .description('bring the database up to date, then run the API and the deliveries')
    .option(
      '--demo',
      'create the demo tenant if the embedded database has no tenant, and simulate its kitchen and front desk',
    )
    .option('--demo-speed <times>', 'speed of the simulation, as a multiple of real time (default: 1)', positiveNumber)
    .addOption(
      new Option('--only <part>', 'run only the API, or only the deliveries (worker)').choices(['api', 'worker']),
    )
    .action(async (options: ServeOptions, command: Command) => {
      if (options.demoSpeed !== undefined && (!options.demo || options.only === 'api')) {
        command.error('error: --demo-speed needs --demo and cannot be used with --only api');
      }
      await run(async (config) => (await import('./serve.ts')).serve(config, options));
    });
  program
    .command('migrate')
    .description('bring the database up to date')
    .action(() => run(async (config) => (await import('./maintenance.ts')).migrate(config)));
  program
    .command('demo')
    .description('create the demo tenant if it is missing, and issue a new sign-in and credential')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) => run(async (config) => (await import('./demo.ts')).demo(config, options)));
  addConfigCommands(program);
  addDeveloperCommands(program);
  addTenantCommands(program);
  addMaintenanceCommands(program);
  addBackupCommands(program);
  addMoveCommand(program);
  addFeedCommands(program);
  addClusterCommands(program);
  return program;
}

function addConfigCommands(program: Command): void {
  program
    .command('config')
    .description('check the environment variables')
    .command('check')
    .description('show each variable and its source, report all faults, and try the database, Redis, JWKS and mail')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const { checkConfig } = await import('./config.ts');
      const isOk = await checkConfig(options);
      // If a server hangs, for example Redis, its connection stays open. Without this line, the open connection would keep the process from
      // ending.
      process.exit(isOk ? 0 : EXIT_FAILED);
    });
}

/** Adds the commands for developers of other platforms who connect their code to the service. */
function addDeveloperCommands(program: Command): void {
  program
    .command('listen')
    .description('print the events of a credential as they happen, and forward them to your server')
    .option(
      '--forward-to <url>',
      'post each event to this http or https URL, signed as the service signs it',
      parseTarget,
    )
    .option(
      '--events <names>',
      `only events of these types, separated by commas: ${EVENT_TYPES.join(', ')}`,
      parseEvents,
    )
    .option('--json', 'print one line of JSON for each event')
    .option(
      '--url <url>',
      'URL of the service (default: the variable ROOMSERVICE_URL or BASE, else http://localhost:8080)',
    )
    .option('--api-key <key>', 'API key of the credential (default: the variable ROOMSERVICE_API_KEY or KEY)')
    .option(
      '--allow-plain-http',
      'allow key and secret to be sent to another machine without TLS, on a network that you trust',
    )
    .addHelpText(
      'after',
      '\nThe API secret is read from ROOMSERVICE_API_SECRET, ROOMSERVICE_API_SECRET_FILE or SECRET.',
    )
    .action(async (options: ListenFlags) => {
      const config = readPartnerConfig(options);
      const { listen } = await import('#developer/listen/listen.ts');
      const {
        forwardTo = null,
        events = null,
        json: isJson = false,
        allowPlainHttp: allowsPlainHttp = false,
      } = options;
      exitOnSignal();
      await listen(config, { forwardTo, events, isJson, allowsPlainHttp }, { print, say: notify });
    });
  program
    .command('trigger')
    .description('make a real event on the demo tenant: confirm an order, or book, change or cancel a stay')
    .addArgument(new Argument('<event>', 'type of the event').choices(EVENT_TYPES))
    .option(
      '--api-key <key>',
      'API key of the credential (default: the variable ROOMSERVICE_API_KEY or KEY, else the newest credential of the demo tenant)',
    )
    .option('--json', 'print JSON')
    .action((event: EventType, options: OutputOptions & { apiKey?: string }) =>
      run(async (config) => (await import('./trigger.ts')).trigger(config, event, options)),
    );
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
    throw new InvalidArgumentError(
      'It must be a URL such as http://localhost:3000/hooks, without user name and password.',
    );
  }
  return url;
}

function parseEvents(text: string): EventType[] {
  return text.split(',').map((part) => {
    const name = part.trim();
    const event = EVENT_TYPES.find((known) => known === name);
    if (event === undefined) {
      throw new InvalidArgumentError(`There is no event type "${name}". The types are ${EVENT_TYPES.join(', ')}.`);
    }
    return event;
  });
}

function addTenantCommands(program: Command): void {
  const tenant = program.command('tenant').description('manage tenants, each described by one JSON file');
  tenant
    .command('init [file]')
    .description('write a new tenant document with comments, which you change and apply (default: print it)')
    .action(async (file: string | undefined) => {
      const { initTenant } = await import('./tenant.ts');
      await initTenant(file);
    });
  tenant
    .command('apply <file>')
    .description('create the tenant or change it to match the file, and print the changes')
    .option('--dry-run', 'print the changes without making them')
    .option('--json', 'print JSON')
    .action((file: string, options: ApplyFlags) =>
      run(async (config) => (await import('./tenant.ts')).applyTenant(config, file, options)),
    );
  tenant
    .command('list')
    .description('list the tenants')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      run(async (config) => (await import('./tenant.ts')).printTenants(config, options)),
    );
}

function addClusterCommands(program: Command): void {
  const cluster = program.command('cluster').description('distribute the tables over the nodes of a cluster (Citus)');
  cluster
    .command('distribute')
    .description('move each table to the nodes where it must be; other transactions wait until the command has ended')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      run(async (config) => (await import('./maintenance.ts')).distributeTables(config, options)),
    );
  cluster
    .command('verify')
    .description('list the tables that are in the wrong place')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      run(async (config) => (await import('./maintenance.ts')).verifyTables(config, options)),
    );
}

/** Adds the commands for maintenance. Operators can run them while the service is running. */
function addMaintenanceCommands(program: Command): void {
  const nights = program.command('nights').description('check or correct the counters of rooms held in each night');
  nights
    .command('verify')
    .description('count the held rooms again from the reservations, and report each difference')
    .option('--tenant <slug>', 'check only this tenant')
    .option('--json', 'print JSON')
    .action((options: OutputOptions & { tenant?: string }) =>
      run(async (config) => (await import('./maintenance.ts')).verifyNights(config, options)),
    );
  nights
    .command('repair')
    .description('correct each counter that differs from the reservations, and report what was corrected')
    .option('--tenant <slug>', 'correct only this tenant')
    .option('--json', 'print JSON')
    .action((options: OutputOptions & { tenant?: string }) =>
      run(async (config) => (await import('./maintenance.ts')).repairNights(config, options)),
    );
  const keys = program.command('keys').description('replace the master key of the service');
  keys
    .command('rewrap')
    .description('replace the master key: wrap all service keys with MASTER_KEY, no longer with MASTER_KEY_PREVIOUS')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) => run(async (config) => (await import('./keys.ts')).rewrapKeys(config, options)));
  keys
    .command('discard')
    .description('after the master key is lost: delete the stored keys, which nobody can decrypt any more')
    .option('--yes', 'required, to agree that all secrets stop working')
    .option('--json', 'print JSON')
    .action((options: OutputOptions & { yes?: boolean }) =>
      run(async (config) => (await import('./keys.ts')).discardStoredKeys(config, options)),
    );
}

/** Adds the commands that copy all data of an installation. */
function addBackupCommands(program: Command): void {
  const backup = program
    .command('backup')
    .description('write all data to a file, while the service runs')
    .argument('<file>', 'path of the new file (a file that exists is never replaced)')
    .option('--passphrase-file <path>', 'store the master key too, encrypted with the passphrase in this file')
    .option('--json', 'print JSON')
    .action((file: string, options: BackupFlags) =>
      run(async (config) => (await import('./backup.ts')).makeBackup(config, file, options)),
    );
  backup
    .command('verify <file>')
    .description('restore the file into a scratch database, and check rows, nights and secrets')
    .option('--passphrase-file <path>', 'decrypt the master key with the passphrase in this file, to check the secrets')
    .option('--json', 'print JSON')
    .action((file: string, _options: BackupFlags, command: Command) =>
      run(async (config) =>
        (await import('./backup.ts')).verifyBackup(config, file, command.optsWithGlobals<BackupFlags>()),
      ),
    );
  program
    .command('restore <file>')
    .description('load a backup into an empty DATA_DIR or an empty DATABASE_URL')
    .option('--passphrase-file <path>', 'restore the master key too, decrypted with the passphrase in this file')
    .option('--json', 'print JSON')
    .action((file: string, options: BackupFlags) =>
      run(async (config) => (await import('./restore.ts')).restore(config, file, options)),
    );
}

/** Adds the command that copies the embedded database to another database. */
function addMoveCommand(program: Command): void {
  program
    .command('move')
    .description('copy all data of the embedded database into an empty PostgreSQL database, and check the copy')
    .requiredOption('--to <url>', 'URL of the empty database')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nOther users of this machine can see the URL while the command runs. To hide the password, leave it out of the URL and set PGPASSWORD.',
    )
    .action(async ({ to, ...options }: OutputOptions & { to: string }, command: Command) => {
      const target = parseMoveTarget(to, command);
      await run(async (config) => (await import('./move.ts')).move(config, target, options));
    });
}

/** Parses the URL of `--to`. The message about a wrong URL does not show it, because it may contain a password. */
function parseMoveTarget(to: string, command: Command): string {
  try {
    return parseDatabaseUrl(to);
  } catch (error) {
    throw error instanceof InvalidValueError ? command.error(`error: --to ${error.message}`) : error;
  }
}

/** Adds the commands for the event feed. */
function addFeedCommands(program: Command): void {
  program
    .command('feed')
    .description('manage the event feed')
    .command('expire-cursors')
    .description(
      'after a point-in-time recovery: refuse the feed cursors from before it, because a partner could miss events with such a cursor',
    )
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      run(async (config) => (await import('./maintenance.ts')).expireCursors(config, options)),
    );
}

/**
 * Reads the configuration, and runs a command with it. Warns on stderr of environment variables that look misspelled. Only a failed command
 * loads the code of the messages, because it loads the library pg, which `--help` and usage errors do not need.
 */
async function run(command: (config: Config) => Promise<void>): Promise<void> {
  for (const warning of misspelledVariables()) {
    notify(`roomservice: ${warning}`);
  }
  const config = readConfig();
  await command(config).catch(async (error: unknown) => {
    const { explain } = await import('./runtime.ts');
    throw isInterrupted() ? error : explain(config, error);
  });
}

/** Parses a number above 0. @throws InvalidArgumentError, which makes the command exit with 2 */
function positiveNumber(text: string): number {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (!(number > 0 && Number.isFinite(number))) {
    throw new InvalidArgumentError('The value must be a number above 0, such as 60 or 0.5.');
  }
  return number;
}

/** Prints an error on stderr. @returns the exit code */
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

/** Returns the part of the help that lists the environment variables, each with the first sentence of its meaning. */
function describeSettings(command: Command): string {
  const help = command.createHelp();
  help.prepareContext({ helpWidth: process.stdout.columns ?? DEFAULT_WIDTH });
  const width = Math.max(...SETTINGS.map(({ name }) => name.length));
  const lines = SETTINGS.map((setting) =>
    help.formatItem(setting.name, width, asPlainText(shortMeaning(setting)), help),
  );
  const secrets = SETTINGS.filter(({ isSecret }) => isSecret).map(({ name }) => `${name}_FILE`);
  return [
    '\nEnvironment variables ("roomservice config check" shows and checks their values):',
    ...lines,
    `\nEach of these variables gives the path of a file that contains the value: ${secrets.join(', ')}.`,
  ].join('\n');
}
