import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Call } from './drive.ts';

const COMMAND = join(import.meta.dirname, '../../bin/roomservice.js');

export async function runCommand(dataDir: string, words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, ...words], { env: environment(dataDir) });
  return stdout.trim();
}

/** Starts `roomservice serve` on a free port, with a call budget that is large enough for all calls of the replay. */
export async function startServe(dataDir: string): Promise<{ call: Call; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [COMMAND, 'serve'], {
    env: environment(dataDir),
    stdio: ['ignore', 'pipe', 'inherit'],
    // Gives the service its own process group, so that it does not receive Ctrl-C. The replay receives Ctrl-C and then stops the service.
    detached: true,
  });
  const exited = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const found = /listens on (http:[^\s"]+)/.exec(line)?.[1];
      if (found !== undefined) {
        resolve(found);
      }
    });
    child.once('exit', () => reject(new Error('The service did not start.')));
  });
  return {
    async call(method, path, { headers, json }) {
      const response = await fetch(url + path, {
        method,
        headers: { ...headers, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
      return { status: response.status, body: await response.json() };
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/**
 * Returns the environment variables of the service. Only PATH and HOME come from this process, so that no other variable leads the
 * service to another database.
 */
function environment(dataDir: string): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return {
    PATH,
    HOME,
    DATA_DIR: dataDir,
    PORT: '0',
    STOP_GRACE: '0',
    LOG_LEVEL: 'warn',
    RATE_LIMIT_PER_MINUTE: '1000000000',
  };
}
