import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findPostmaster, stopPostmaster } from '#platform/db/embedded/postmaster.ts';
import { type Certificate, makeCertificate } from './certificate.ts';
import { eventually } from './webhooks.ts';

const COMMAND = join(import.meta.dirname, '../../bin/roomservice.js');
/** A first start under load: PostgreSQL's files are made, and synced. No command takes longer. */
const START_TIMEOUT_MS = 60_000;

export interface CommandOptions {
  env?: Record<string, string>;
  /** The Node to run on; this process's own where left out. */
  node?: string;
  /** In a process group of its own, as a terminal would start it. */
  detached?: boolean;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** `roomservice …` as a process of its own. */
export interface Command {
  pid: number;
  /** What it has printed so far, on both streams together and on each. */
  output(): string;
  /** Waits for a match in what it prints. Throws when it ends before. */
  prints(pattern: RegExp): Promise<RegExpMatchArray>;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

const running = new Set<ChildProcess>();
/** Each with a DATA_DIR in it, or something smaller. */
const folders = new Set<string>();

/** Runs `bin/roomservice.js` with nothing of our own environment but what finding programs needs. */
export function startCommand(args: string[], options: CommandOptions = {}): Command {
  const { env = {}, node = process.execPath, detached = false } = options;
  const child = spawn(node, [COMMAND, ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached,
  });
  running.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    running.delete(child);
    return { code, signal, stdout, stderr };
  });
  const output = () => stdout + stderr;
  return {
    pid: child.pid ?? 0,
    output,
    async prints(pattern) {
      const seen = () => pattern.exec(stdout) ?? pattern.exec(stderr);
      const isOver = () => child.exitCode !== null || child.signalCode !== null;
      await eventually(() => seen() !== null || isOver(), `output like ${pattern}: ${output()}`, START_TIMEOUT_MS);
      const match = seen();
      if (match === null) {
        throw new Error(`It ended without printing ${pattern}:\n${output()}`);
      }
      return match;
    },
    kill: (signal) => void child.kill(signal),
    ended,
  };
}

/** Runs a command to its end; one that does not come to an end is killed, and has no exit code then. */
export async function runCommand(args: string[], options: CommandOptions = {}): Promise<Ended> {
  const command = startCommand(args, options);
  const timer = setTimeout(() => command.kill('SIGKILL'), START_TIMEOUT_MS);
  const ended = await command.ended;
  clearTimeout(timer);
  return ended;
}

export interface Serving extends Command {
  url: string;
}

/** Starts `serve …` and waits until it says where it listens. */
export async function startServing(args: string[], options: CommandOptions = {}): Promise<Serving> {
  const command = startCommand(['serve', ...args], options);
  const [, url = ''] = await command.prints(/listens on (http:[^\s"]+)/);
  return { ...command, url };
}

/** A DATA_DIR that does not exist yet, in a folder that everybody may enter. `cleanUp` removes it. */
export async function newDataDir(): Promise<string> {
  return join(await newFolder(), 'data');
}

/** A temporary folder that everybody may enter, until `cleanUp`. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rs-cli-'));
  await chmod(folder, 0o755);
  folders.add(folder);
  return folder;
}

/** A receiver's certificate and a file of it: a process with `NODE_EXTRA_CA_CERTS` set to its path trusts it. */
export async function newCertificateFile(): Promise<{ certificate: Certificate; path: string }> {
  const certificate = await makeCertificate();
  const path = join(await newFolder(), 'certificate.pem');
  await writeFile(path, certificate.cert);
  return { certificate, path };
}

/** Where PostgreSQL's files are: in DATA_DIR, or where its link says. */
export async function clusterDirOf(dataDir: string): Promise<string> {
  const inside = join(dataDir, 'postgres');
  return await readlink(inside).catch(() => inside);
}

/** The pid in PostgreSQL's own lock file; 0 where there is none. */
export async function postgresPid(dataDir: string): Promise<number> {
  const path = join(await clusterDirOf(dataDir), 'postmaster.pid');
  return Number.parseInt(await readFile(path, 'utf8').catch(() => '0'), 10);
}

/** One that has ended and waits for its parent to take notice (a zombie) does not count. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Kills what is still running, by its pid, and removes every folder. For `after`. */
export async function cleanUp(): Promise<void> {
  for (const child of running) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  for (const folder of folders) {
    const clusterDir = await clusterDirOf(join(folder, 'data'));
    const postmaster = await findPostmaster(clusterDir);
    if (postmaster !== undefined) {
      await stopPostmaster(clusterDir, postmaster.pid);
    }
    if (!clusterDir.startsWith(folder)) {
      await rm(dirname(clusterDir), { recursive: true, force: true });
    }
    await rm(folder, { recursive: true, force: true });
  }
  folders.clear();
}

/** A port that was free a moment ago, for what must be told its port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
