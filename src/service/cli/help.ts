import type { Command } from 'commander';
import { asPlainText, SETTINGS, shortMeaning } from '#platform/settings.ts';

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
