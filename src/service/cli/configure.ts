import type { Command } from 'commander';
import { type Config, misspelledVariables, readConfig } from '#platform/config.ts';
import { asPlainText, SETTINGS, shortMeaning } from '#platform/settings.ts';
import { notify } from './terminal.ts';

let current: Config | null = null;

/** Reads the configuration. Warns on stderr of environment variables that look misspelled. */
export function configure(): Config {
  for (const warning of misspelledVariables()) {
    notify(`roomservice: ${warning}`);
  }
  current = readConfig();
  return current;
}

/**
 * Turns the failure of a command into an OperatorError if the operator can remove it. Returns other errors unchanged. Only a failed command
 * loads the code of the messages, because it loads the library pg, which `--help` and usage errors do not need.
 */
export async function explainFailure(error: unknown): Promise<unknown> {
  if (current === null) {
    return error;
  }
  const { explain } = await import('./faults.ts');
  return explain(current, error);
}

/** Width of the help in characters if stdout is not a terminal. */
const DEFAULT_WIDTH = 80;

/** Returns the part of the help that lists the environment variables, each with the first sentence of its meaning. */
export function describeSettings(command: Command): string {
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
