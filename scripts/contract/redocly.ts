import { spawn } from 'node:child_process';
import { join } from 'node:path';

const REPOSITORY = join(import.meta.dirname, '..', '..');
const REDOCLY = join(REPOSITORY, 'node_modules', '.bin', 'redocly');

/** Runs the Redocly CLI with the Node of this process. The environment variables stop the CLI from sending requests over the network. */
export async function redocly(...options: string[]): Promise<{ isGood: boolean; output: string }> {
  const child = spawn(process.execPath, [REDOCLY, ...options, '--config=contract/redocly.yaml'], {
    cwd: REPOSITORY,
    env: {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      REDOCLY_SUPPRESS_NOTIFICATIONS: 'true',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { isGood: code === 0, output: Buffer.concat(output).toString('utf8') };
}
