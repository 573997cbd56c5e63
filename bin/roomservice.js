#!/usr/bin/env node
// Plain JavaScript, so that an older Node can read it and hand over to the Node 24 that npm brought along.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Names of webhook receivers are looked up in Node's thread pool, where those that hang hold up every other: with 4 threads, ten
// dead names delayed healthy receivers by 11 s, with 256 by 0.2 s. A thread that waits costs 10 KiB. Half of them may look up.
// oxlint-disable-next-line node/no-process-env -- read by Node itself, before any configuration
process.env.UV_THREADPOOL_SIZE ??= '256';

const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 24 || (major === 24 && minor < 7)) {
  handOver();
} else {
  await start();
}

async function start() {
  const { START_FLAGS, START_ENVIRONMENT } = await import('../src/service/cli/start-settings.js');
  // V8 and glibc read them when a process starts, so `serve` is started again with them, in the same process, however it was started. The
  // operator's own settings go before ours, each by itself.
  const { env, execArgv, execPath, argv } = process;
  const given = [...execArgv, env.NODE_OPTIONS ?? ''].join(' ');
  const flags = START_FLAGS.filter((flag) => !given.includes(flag.split('=')[0]));
  const isSet = flags.length === 0 && Object.keys(START_ENVIRONMENT).every((name) => name in env);
  if (argv[2] === 'serve' && canStartAgain() && !isSet) {
    process.execve(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], { ...START_ENVIRONMENT, ...env });
  }
  // What V8 has compiled is kept, which spares the next start a quarter of its work. Beside the code: whoever can write there can change
  // the code as well. Where it cannot be written, Node goes on without.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/roomservice', import.meta.url)));
  const { main } = await import('../src/service/cli/main.ts');
  await main(process.argv);
}

/** Windows has no execve, and a channel to a parent process would be lost. */
function canStartAgain() {
  return process.platform !== 'win32' && process.channel === undefined;
}

function handOver() {
  const node = fileURLToPath(new URL(`../node_modules/node-linux-${process.arch}/bin/node`, import.meta.url));
  if (process.platform !== 'linux' || !existsSync(node)) {
    fail(
      `it needs Node 24.7 or later, and this is ${process.versions.node}. Install it, or on Linux run "npm ci" again.`,
    );
    return;
  }
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('error', (error) => fail(`Node 24 in node_modules does not start (${error.code}). Run "npm ci" again.`));
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 1));
}

function fail(reason) {
  process.stderr.write(`roomservice: ${reason}\n`);
  process.exitCode = 1;
}
