import { type Config, misspelledVariables, readConfig } from '#platform/config.ts';
import { notify } from './terminal.ts';

/** Reads the configuration. Warns on stderr of environment variables that look misspelled. */
export function configure(): Config {
  for (const warning of misspelledVariables()) {
    notify(`roomservice: ${warning}`);
  }
  return readConfig();
}
