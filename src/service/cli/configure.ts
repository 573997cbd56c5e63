import { type Config, misspelledVariables, readConfig } from '#platform/config.ts';
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
