import type { Command } from 'commander';
import { InvalidValueError, parseDatabaseUrl } from '#platform/lib/setting-values.ts';
import { configure } from './configure.ts';

interface BackupFlags {
  passphraseFile?: string;
  json?: boolean;
}

/** Adds the commands that handle all data of an installation. The code of each command is loaded only when the command is called. */
export function addDataCommands(program: Command): void {
  addBackupCommands(program);
  addMoveCommand(program);
  addFeedCommands(program);
}

/** Adds the commands that copy the whole database to a file and back. */
function addBackupCommands(program: Command): void {
  const backup = program
    .command('backup')
    .description('write all data to a file, while the service runs')
    .argument('<file>', 'path of the new file (a file that exists is never replaced)')
    .option('--passphrase-file <path>', 'store the master key too, encrypted with the passphrase in this file')
    .option('--json', 'print JSON')
    .action(async (file: string, options: BackupFlags) => {
      const config = configure();
      const { backup: run } = await import('./backup.ts');
      await run(config, file, options);
    });
  backup
    .command('verify <file>')
    .description('restore the file into a scratch database, and check rows, nights and secrets')
    .option('--passphrase-file <path>', 'decrypt the master key with the passphrase in this file, to check the secrets')
    .option('--json', 'print JSON')
    .action(async (file: string, _options: BackupFlags, command: Command) => {
      const config = configure();
      const { verifyBackup } = await import('./verify-backup.ts');
      await verifyBackup(config, file, command.optsWithGlobals<BackupFlags>());
    });
  program
    .command('restore <file>')
    .description('load a backup into an empty DATA_DIR or an empty DATABASE_URL')
    .option('--passphrase-file <path>', 'restore the master key too, decrypted with the passphrase in this file')
    .option('--json', 'print JSON')
    .action(async (file: string, options: BackupFlags) => {
      const config = configure();
      const { restore } = await import('./restore.ts');
      await restore(config, file, options);
    });
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
    .action(async ({ to, ...options }: { to: string; json?: boolean }, command: Command) => {
      const target = parseTarget(to, command);
      const config = configure();
      const { move } = await import('./move.ts');
      await move(config, target, options);
    });
}

/** Parses the URL of `--to`. The message about a wrong URL does not show it, because it may contain a password. */
function parseTarget(to: string, command: Command): string {
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
    .action(async (options: { json?: boolean }) => {
      const config = configure();
      const { expireCursors } = await import('./maintenance.ts');
      await expireCursors(config, options);
    });
}
