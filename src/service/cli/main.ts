/** The command line: lists the commands and loads the code of the one that is called. */
import { inspect } from 'node:util';
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type Environment, misspelledVariables, readConfig, readPartnerConfig } from '#platform/config.ts';
import { OperatorError } from '#platform/errors.ts';
import { parseDatabaseUrl } from '#platform/lib/postgres-url.ts';
import { InvalidValueError } from '#platform/lib/setting-values.ts';
import type { ListenOptions } from '#developer/listen/listen.ts';
import { EVENT_TYPES, type EventType } from '#webhooks/events/event-types.ts';
import type { BackupFlags } from './backup.ts';
import type { Context } from './runtime.ts';
import type { ServeOptions } from './serve.ts';
import { openTerminal, type OutputOptions, type Terminal } from './terminal.ts';
import { readVersion } from '../version.ts';

type Surroundings = Omit<Context, 'config'>;
/** Returns a function that reads the configuration, loads the code of a command, and runs the command. */
type Lazily = <Args extends unknown[]>(
  load: () => Promise<(context: Context, ...args: Args) => Promise<void>>,
) => (...args: Args) => Promise<void>;

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const DEFAULT_WIDTH = 80;

export async function main(argv: string[]): Promise<void> {
  process.exitCode = await runCommand(argv.slice(2), process.env, openTerminal());
}

/** Runs a command. Returns the exit code: 1 if the command failed, and 2 if the command or an option is wrong. */
export async function runCommand(args: string[], environment: Environment, terminal: Terminal): Promise<number> {
  try {
    const program = buildProgram({ environment, terminal });
    program.version(await readVersion(), '--version', 'print the version');
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return report(terminal, error);
  }
}

/** The code of each command is loaded only when this command is called. */
export function buildProgram(surroundings: Surroundings): Command {
  const { terminal } = surroundings;
  const lazily: Lazily =
    (load) =>
    (...args) =>
      runWithConfig(surroundings, async (context) => await (await load())(context, ...args));
  const program = new Command('roomservice').description(
    "One API through which outside platforms order from a restaurant's kitchen and book a hotel's rooms.",
  );
  program.configureOutput({
    writeOut: (text) => terminal.print(text.replace(/\n$/, '')),
    writeErr: (text) => terminal.notify(text.replace(/\n$/, '')),
    getOutHelpWidth: () => terminal.host.columns ?? DEFAULT_WIDTH,
    getErrHelpWidth: () => terminal.host.columns ?? DEFAULT_WIDTH,
  });
  program.exitOverride().showHelpAfterError('(roomservice --help lists the commands)');
  program.addHelpText('after', '\nEnvironment variables: "roomservice config check" lists them, with their meanings.');
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
      await lazily(async () => (await import('./serve.ts')).serve)(options);
    });
  program
    .command('migrate')
    .description('bring the database up to date')
    .action(lazily(async () => (await import('./maintenance.ts')).migrate));
  addCommand(program, 'demo', 'create the demo tenant if it is missing, and issue a new sign-in and credential').action(
    lazily(async () => (await import('./demo.ts')).demo),
  );
  addConfigCommands(program, surroundings);
  addDeveloperCommands(program, surroundings, lazily);
  addTenantCommands(program, terminal, lazily);
  addMaintenanceCommands(program, lazily);
  addBackupCommands(program, lazily);
  addMoveCommand(program, lazily);
  return program;
}

function addCommand(parent: Command, usage: string, description: string): Command {
  return parent.command(usage).description(description).option('--json', 'print JSON');
}

function addConfigCommands(program: Command, { environment, terminal }: Surroundings): void {
  const config = program.command('config').description('check the environment variables');
  addCommand(
    config,
    'check',
    'show each variable and its source, report all faults, and try the database, Redis, JWKS and mail',
  ).action(async (options: OutputOptions) => {
    const { checkConfig } = await import('./config.ts');
    const isOk = await checkConfig(environment, terminal, options);
    // If a server hangs, for example Redis, its connection stays open, and would keep the process from ending.
    terminal.host.exit(isOk ? 0 : EXIT_FAILED);
  });
}

function addTenantCommands(program: Command, terminal: Terminal, lazily: Lazily): void {
  const tenant = program.command('tenant').description('manage tenants, each described by one JSON file');
  tenant
    .command('init [file]')
    .description('write a new tenant document with comments, which you change and apply (default: print it)')
    .action(async (file: string | undefined) => (await import('./tenant.ts')).initTenant(terminal, file));
  addCommand(tenant, 'apply <file>', 'create the tenant or change it to match the file, and print the changes')
    .option('--dry-run', 'print the changes without making them')
    .action(lazily(async () => (await import('./tenant.ts')).applyTenant));
  addCommand(tenant, 'list', 'list the tenants').action(lazily(async () => (await import('./tenant.ts')).printTenants));
}

function addMaintenanceCommands(program: Command, lazily: Lazily): void {
  const nights = program.command('nights').description('check or correct the counters of rooms held in each night');
  addCommand(nights, 'verify', 'count the held rooms again from the reservations, and report each difference').action(
    lazily(async () => (await import('./maintenance.ts')).verifyNights),
  );
  addCommand(
    nights,
    'repair',
    'correct each counter that differs from the reservations, and report what was corrected',
  ).action(lazily(async () => (await import('./maintenance.ts')).repairNights));
  const keys = program.command('keys').description('replace the master key of the service');
  addCommand(
    keys,
    'rewrap',
    'replace the master key: wrap all service keys with MASTER_KEY, no longer with MASTER_KEY_PREVIOUS',
  ).action(lazily(async () => (await import('./keys.ts')).rewrapKeys));
  addCommand(keys, 'discard', 'after the master key is lost: delete the stored keys, which nobody can decrypt any more')
    .option('--yes', 'required, to agree that all secrets stop working')
    .action(lazily(async () => (await import('./keys.ts')).discardStoredKeys));
  const feed = program.command('feed').description('manage the event feed');
  addCommand(
    feed,
    'expire-cursors',
    'after a point-in-time recovery: refuse the feed cursors from before it, because a partner could miss events with such a cursor',
  ).action(lazily(async () => (await import('./maintenance.ts')).expireCursors));
  const cluster = program.command('cluster').description('distribute the tables over the nodes of a cluster (Citus)');
  addCommand(
    cluster,
    'distribute',
    'move each table to the nodes where it must be; other transactions wait until the command has ended',
  ).action(lazily(async () => (await import('./maintenance.ts')).distributeTables));
  addCommand(cluster, 'verify', 'list the tables that are in the wrong place').action(
    lazily(async () => (await import('./maintenance.ts')).verifyTables),
  );
}

function addBackupCommands(program: Command, lazily: Lazily): void {
  const passphrase = '--passphrase-file <path>';
  const backup = addCommand(program, 'backup <file>', 'write all data to a file, while the service runs')
    .option(passphrase, 'store the master key too, encrypted with the passphrase in this file')
    .action(lazily(async () => (await import('./backup.ts')).makeBackup));
  addCommand(backup, 'verify <file>', 'restore the file into a temporary database, and check rows, nights and secrets')
    .option(passphrase, 'decrypt the master key with the passphrase in this file, to check the secrets')
    .action((file: string, _options: BackupFlags, command: Command) =>
      lazily(async () => (await import('./backup.ts')).verifyBackup)(file, command.optsWithGlobals<BackupFlags>()),
    );
  addCommand(program, 'restore <file>', 'load a backup into an empty DATA_DIR or an empty DATABASE_URL')
    .option(passphrase, 'restore the master key too, decrypted with the passphrase in this file')
    .action(lazily(async () => (await import('./backup.ts')).restore));
}

function addMoveCommand(program: Command, lazily: Lazily): void {
  addCommand(
    program,
    'move',
    'copy all data of the embedded database into an empty PostgreSQL database, and check the copy',
  )
    .requiredOption('--to <url>', 'URL of the empty database')
    .addHelpText(
      'after',
      '\nOther users of this machine can see the URL while the command runs. To hide the password, leave it out of the URL and set PGPASSWORD.',
    )
    .action(async ({ to, ...options }: OutputOptions & { to: string }, command: Command) => {
      const target = parseMoveTarget(to, command);
      await lazily(async () => (await import('./move.ts')).move)(target, options);
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

function addDeveloperCommands(program: Command, { environment, terminal }: Surroundings, lazily: Lazily): void {
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
    .action(async (options: ListenOptions & { url?: string; apiKey?: string }) => {
      const config = readPartnerConfig(options, environment);
      const { listen } = await import('#developer/listen/listen.ts');
      // The command holds no data that could be lost.
      terminal.host.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE'], () => terminal.host.exit(0));
      await listen(config, options, { print: terminal.print, say: terminal.notify });
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
    .action(lazily(async () => (await import('./trigger.ts')).trigger));
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

/** Only a failed command loads the code of the messages, because it loads the library pg, which `--help` and usage errors do not need. */
async function runWithConfig({ environment, terminal }: Surroundings, command: (context: Context) => Promise<void>) {
  for (const warning of misspelledVariables(environment)) {
    terminal.notify(`roomservice: ${warning}`);
  }
  const context = { config: readConfig(environment), environment, terminal };
  await command(context).catch(async (error: unknown) => {
    const { explain } = await import('./runtime.ts');
    throw terminal.isInterrupted ? error : explain(context, error);
  });
}

function positiveNumber(text: string): number {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (!(number > 0 && Number.isFinite(number))) {
    throw new InvalidArgumentError('The value must be a number above 0, such as 60 or 0.5.');
  }
  return number;
}

function report(terminal: Terminal, error: unknown): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? 0 : EXIT_USAGE;
  }
  if (terminal.isInterrupted) {
    return EXIT_FAILED;
  }
  terminal.notify(error instanceof OperatorError ? `roomservice: ${error.message}` : inspect(error));
  return EXIT_FAILED;
}
