import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Call } from './drive.ts';

const COMMAND = join(import.meta.dirname, '../../bin/roomservice.js');

/** What `tenant apply --json` prints, as far as the replay needs it. */
export interface Applied {
  properties: { name: string; room_types: { id: string; name: string }[] }[];
}

/** Runs one command of `roomservice` beside the service. @returns what it printed */
export async function runCommand(dataDir: string, words: string[]): Promise<string> {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [COMMAND, ...words], { env: environment(dataDir) });
  return stdout.trim();
}

/** Starts `roomservice serve` on a free port, with a budget that does not stand in the way. */
export async function startServe(dataDir: string): Promise<{ call: Call; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [COMMAND, 'serve'], {
    env: environment(dataDir),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const url = await listeningAt(createInterface(child.stdout), exited);
  return {
    async call(method, path, headers, json) {
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

function environment(dataDir: string): NodeJS.ProcessEnv {
  return { ...process.env, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', RATE_LIMIT_PER_MINUTE: '100000000' };
}

async function listeningAt(lines: AsyncIterable<string> & NodeJS.EventEmitter, exited: Promise<unknown>) {
  const found = new Promise<string>((resolve) => {
    lines.on('line', (line: string) => {
      const url = /listens on (http:\S+)/.exec(line)?.[1];
      if (url !== undefined) {
        resolve(url);
      }
    });
  });
  return await Promise.race([
    found,
    exited.then(() => {
      throw new Error('the service did not start');
    }),
  ]);
}
