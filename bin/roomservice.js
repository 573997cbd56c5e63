#!/usr/bin/env node
// This file is plain JavaScript, so that an older Node can run it and start the Node 24 that npm has installed.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Node looks up the host names of webhook receivers in its thread pool, and a lookup without a response blocks its thread. With 4 threads,
// ten such names delayed healthy receivers by 11 s; with 256 threads, by 0.2 s. A waiting thread costs 10 KiB. Node uses at most half of
// the threads for lookups.
// oxlint-disable-next-line node/no-process-env -- read by Node itself, before any configuration
process.env.UV_THREADPOOL_SIZE ??= '256';

const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 24 || (major === 24 && minor < 7)) {
  runInInstalledNode();
} else {
  await start();
}

async function start() {
  const { START_FLAGS, START_ENVIRONMENT } = await import('../src/service/cli/start-settings.js');
  // V8 and glibc read the settings of start-settings.js only when a process starts. So `serve` starts itself again with these settings, in
  // the same process. A setting that the operator has given stays as it is.
  const { env, execArgv, execPath, argv } = process;
  const given = [...execArgv, env.NODE_OPTIONS ?? ''].join(' ');
  const flags = START_FLAGS.filter((flag) => !given.includes(flag.split('=')[0]));
  const isSet = flags.length === 0 && Object.keys(START_ENVIRONMENT).every((name) => name in env);
  if (argv[2] === 'serve' && canStartAgain() && !isSet) {
    process.execve(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], { ...START_ENVIRONMENT, ...env });
  }
  // Node caches the compiled code, which saves the next start a quarter of its work. The cache is beside the code. This place is safe,
  // because a person who can write there can also change the code. If the folder cannot be written, Node runs without the cache.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/roomservice', import.meta.url)));
  const { main } = await import('../src/service/cli/main.ts');
  await main(process.argv);
}

/** Returns true if the process can replace itself. Windows has no execve, and a channel to a parent process would be lost. */
function canStartAgain() {
  return process.platform !== 'win32' && process.channel === undefined;
}

/** Runs the command in the Node 24 that npm has installed, and passes signals and the exit code on. */
function runInInstalledNode() {
  const node = fileURLToPath(new URL(`../node_modules/node-linux-${process.arch}/bin/node`, import.meta.url));
  if (process.platform !== 'linux' || !existsSync(node)) {
    fail(
      `Node 24.7 or later is needed, but this is Node ${process.versions.node}. Install it, or run "npm ci" again on Linux.`,
    );
    return;
  }
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('error', (error) => fail(`The Node 24 in node_modules does not start (${error.code}). Run "npm ci" again.`));
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 1));
}

function fail(reason) {
  process.stderr.write(`roomservice: ${reason}\n`);
  process.exitCode = 1;
}
