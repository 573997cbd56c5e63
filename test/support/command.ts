import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { chmod, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findPostmaster, stopPostmaster } from '#platform/db/embedded/postmaster.ts';
import { runCommand as main } from '#service/cli/main.ts';
import { Terminal } from '#service/cli/terminal.ts';
import { type Certificate, makeCertificate, trustCertificate } from './certificate.ts';
import { eventually } from './webhooks.ts';

const COMMAND = join(import.meta.dirname, '../../bin/roomservice.js');
/** Time limit for each command. The slowest is a first start, which makes the files of PostgreSQL. */
const START_TIMEOUT_MS = 60_000;

/** Matches the line with which a command says which database it uses. */
const DATABASE_LINE = /^Database: .*\n/m;

export interface CommandOptions {
  env?: Record<string, string>;
  node?: string;
  program?: string;
  /** If true, the command runs in a process group of its own, like a command in a terminal. */
  detached?: boolean;
  /** System user that runs the command. Only root may choose it. By default, it is the user of this process. */
  uid?: number;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  /** Text that the command has printed on stderr, without the line that names its database. */
  stderr: string;
  /** Line that names the database of the command, without its line break. Empty if the command has printed no such line. */
  database: string;
}

export interface Command {
  pid: number;
  /** Returns what the command has printed until now: all of stdout, then all of stderr. */
  output(): string;
  /** @throws if the command ends first, or if this takes more than 60 s */
  prints(pattern: RegExp): Promise<RegExpMatchArray>;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

const running = new Set<ChildProcess>();
const here = new Set<Command>();
/** Temporary folders that `cleanUp` removes. Each holds a DATA_DIR or other files of a test. */
const folders = new Set<string>();

/** Variables of every command, unless its test sets them. A stop has no grace. */
const DEFAULTS = { PORT: '0', STOP_GRACE: '0' };

/** Starts `bin/roomservice.js` in a process of its own, which gets PATH, HOME and the variables of `env`. */
export function startProgram(args: string[], options: CommandOptions = {}): Command {
  const { env = {}, node = process.execPath, program = COMMAND, detached = false, uid } = options;
  const child = spawn(node, [program, ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...DEFAULTS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  running.add(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    running.delete(child);
    return { code, signal, stdout, ...withoutDatabase(stderr) };
  });
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  return commandOf(() => [stdout, stderr], ended, { pid: child.pid ?? 0, kill });
}

function withoutDatabase(stderr: string): Pick<Ended, 'stderr' | 'database'> {
  const [line = ''] = DATABASE_LINE.exec(stderr) ?? [];
  return { stderr: stderr.replace(line, ''), database: line.trimEnd() };
}

function commandOf(
  printed: () => [stdout: string, stderr: string],
  ended: Promise<Ended>,
  process: Pick<Command, 'pid' | 'kill'>,
): Command {
  let isOver = false;
  void ended.then(() => (isOver = true));
  const output = () => printed().join('');
  return {
    ...process,
    output,
    ended,
    async prints(pattern) {
      const seen = () =>
        printed()
          .map((text) => pattern.exec(text))
          .find((match) => match !== null);
      await eventually(() => seen() !== undefined || isOver, `output like ${pattern}: ${output()}`, START_TIMEOUT_MS);
      const match = seen();
      if (match === undefined) {
        throw new Error(`The command ended without printing ${pattern}. Its output:\n${output()}`);
      }
      return match;
    },
  };
}

/** Options of a command that runs in this process. With `columns`, its stdout is a terminal of this width. */
export interface HereOptions extends Pick<CommandOptions, 'env'> {
  columns?: number | undefined;
}

/**
 * Starts a command in this process, as a function of its arguments and its environment. It gets no variable of this process. Real starts
 * (`startProgram`) are only for what this cannot show: signals of the system, a killed process, other users, the bundle.
 */
export function startCommand(args: string[], { env = {}, columns }: HereOptions = {}): Command {
  let [stdout, stderr] = ['', ''];
  const signals = new EventEmitter();
  const ended = new Promise<Ended>((resolve) => {
    const end = (code: number) => resolve({ code, signal: null, stdout, ...withoutDatabase(stderr) });
    const out = (text: string) => (stdout += text);
    const terminal = new Terminal({
      out,
      err: (text) => (stderr += text),
      openLog: async () => ({ write: out }),
      isInteractive: false,
      showsProgress: false,
      columns,
      onSignal: (names, listener) => names.forEach((name) => signals.on(name, () => listener(name))),
      settle: () => {},
      exit: end,
    });
    void main(args, { ...DEFAULTS, ...env }, terminal).then(end);
  });
  const kill = (signal: NodeJS.Signals) => void signals.emit(signal);
  const command = commandOf(() => [stdout, stderr], ended, { pid: process.pid, kill });
  here.add(command);
  void ended.then(() => here.delete(command));
  return command;
}

export async function runCommand(args: string[], options: Pick<CommandOptions, 'env'> = {}): Promise<Ended> {
  return await startCommand(args, options).ended;
}

/** Runs a command in a process of its own until it ends. If it has not ended after 60 s, it is killed, and the exit code is null. */
export async function runProgram(args: string[], options: CommandOptions = {}): Promise<Ended> {
  const command = startProgram(args, options);
  const timer = setTimeout(() => command.kill('SIGKILL'), START_TIMEOUT_MS);
  const ended = await command.ended;
  clearTimeout(timer);
  return ended;
}

export interface Serving extends Command {
  url: string;
}

/** Starts `serve …` in this process, and waits until it prints the URL on which it listens. */
export async function startServing(args: string[], options: HereOptions = {}): Promise<Serving> {
  return await listening(startCommand(['serve', ...args], options));
}

/** Starts `serve …` in a process of its own, and waits until it prints the URL on which it listens. */
export async function startServingProgram(args: string[], options: CommandOptions = {}): Promise<Serving> {
  return await listening(startProgram(['serve', ...args], options));
}

async function listening(command: Command): Promise<Serving> {
  const [, url = ''] = await command.prints(/listens on (http:[^\s"]+)/);
  return { ...command, url };
}

/** Stops a `serve` that runs, and asserts that it exits with 0. */
export async function stop(serving: Command): Promise<Ended> {
  serving.kill('SIGTERM');
  const ended = await serving.ended;
  assert.equal(ended.code, 0, serving.output());
  return ended;
}

/** On a busy machine, a process is sometimes not ready for a moment. */
export async function untilReady({ url }: { url: string }): Promise<void> {
  await eventually(async () => (await fetch(`${url}/readyz`)).status === 200, 'response 200 to /readyz', 30_000);
}

/** Returns a path for a DATA_DIR that does not exist yet, in a new folder. */
export async function newDataDir(): Promise<string> {
  return join(await newFolder(), 'data');
}

/** Makes a temporary folder that every user may enter, because PostgreSQL may run as another user. `cleanUp` removes it. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rs-cli-'));
  await chmod(folder, 0o755);
  folders.add(folder);
  return folder;
}

/** Makes a certificate that this process trusts. Another one trusts it if its NODE_EXTRA_CA_CERTS is the path. */
export async function newCertificateFile(): Promise<{ certificate: Certificate; path: string }> {
  const certificate = await makeCertificate();
  trustCertificate(certificate.cert);
  const path = join(await newFolder(), 'certificate.pem');
  await writeFile(path, certificate.cert);
  return { certificate, path };
}

/** The folder of PostgreSQL is `DATA_DIR/postgres`, or the target of this link. */
export async function clusterDirOf(dataDir: string): Promise<string> {
  const inside = join(dataDir, 'postgres');
  return await readlink(inside).catch(() => inside);
}

/** Reads the process id of PostgreSQL from its lock file. Returns 0 if there is no lock file. */
export async function postgresPid(dataDir: string): Promise<number> {
  const path = join(await clusterDirOf(dataDir), 'postmaster.pid');
  return Number.parseInt(await readFile(path, 'utf8').catch(() => '0'), 10);
}

/** Kills the commands and PostgreSQL processes that still run, and removes all folders. For an `after` hook. */
export async function cleanUp(): Promise<void> {
  for (const command of here) {
    command.kill('SIGTERM');
    await command.ended;
  }
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

/** Runs a command. @throws if it does not exit with 0, or if it prints on stderr */
export async function succeed(args: string[], options: Pick<CommandOptions, 'env'> = {}): Promise<Ended> {
  const ended = await runCommand(args, options);
  assert.deepEqual([ended.code, ended.stderr], [0, ''], args.join(' '));
  return ended;
}

/**
 * Asserts that a command exits with 1. Beside the log of `serve`, it must print only one line, on stderr, which must match the message.
 * @returns what it has printed on stderr
 */
export async function refuse(
  args: string[],
  options: CommandOptions,
  message: RegExp,
  run: (args: string[], options: CommandOptions) => Promise<Ended> = runCommand,
): Promise<string> {
  const { code, stdout, stderr } = await run(args, options);
  assert.deepEqual([code, args[0] === 'serve' ? '' : stdout], [1, ''], stderr);
  assert.match(stderr, message);
  assert.equal(stderr.trim().split('\n').length, 1, stderr);
  return stderr;
}
