#!/usr/bin/env node
// This file is plain JavaScript, so that an older Node can run it. The older Node then starts the Node 24 that npm has installed in
// node_modules.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

// Node looks up the host names of webhook receivers in its thread pool. A lookup that gets no response blocks its thread. With 4 threads,
// ten such lookups delayed deliveries to healthy receivers by 11 s, but with 256 threads by only 0.2 s. Node uses at most half of the
// threads for lookups. A waiting thread costs 10 KiB. Only `serve` sends webhooks. The other commands keep 4 threads, because to create 256
// threads takes 60 ms of processor time, a seventh of `roomservice config check`.
if (process.argv[2] === 'serve') {
  // oxlint-disable-next-line node/no-process-env -- read by Node itself, before any configuration
  process.env.UV_THREADPOOL_SIZE ??= '256';
}

// In a checkout, Node runs the sources. The npm package has only the code that scripts/build-package.ts compiled from them.
const isCheckout = existsSync(new URL('../src', import.meta.url));
const COMMANDS = isCheckout ? '../src/service/cli' : '../dist/service/cli';

const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 24 || (major === 24 && minor < 7)) {
  runInInstalledNode();
} else {
  await start();
}

async function start() {
  const { START_FLAGS, START_ENVIRONMENT } = await import(`${COMMANDS}/start-settings.js`);
  // V8 and glibc read the settings of start-settings.js only when a program starts. So `serve` uses execve to start the same command again
  // in the same process, with these settings. A setting that the operator has given stays as it is.
  const { env, execArgv, execPath, argv } = process;
  const given = [...execArgv, env.NODE_OPTIONS ?? ''].join(' ');
  const flags = START_FLAGS.filter((flag) => !given.includes(flag.split('=')[0]));
  const isSet = flags.length === 0 && Object.keys(START_ENVIRONMENT).every((name) => name in env);
  if (argv[2] === 'serve' && canStartAgain() && !isSet) {
    process.execve(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], { ...START_ENVIRONMENT, ...env });
  }
  // Node caches the compiled code, which saves the next start a quarter of its work. The cache is in node_modules, beside the code. This
  // place is safe, because a person who can write there can also change the code. If the folder cannot be written, Node runs without the
  // cache.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/roomservice', import.meta.url)));
  const { resolveImportsQuickly } = await import(`${COMMANDS}/resolve-imports.js`);
  const { main } = await import(`${COMMANDS}/main.${isCheckout ? 'ts' : 'js'}`);
  // Not earlier, because Node itself must resolve the first module of the own code. The path of this file may contain symbolic links.
  resolveImportsQuickly();
  await main(process.argv);
}

/**
 * Returns true if the process can replace itself by execve. Windows has no execve. A process with a message channel to its parent must
 * not replace itself, because the channel would be lost.
 */
function canStartAgain() {
  return process.platform !== 'win32' && process.channel === undefined;
}

/**
 * Runs this command in a child process, with the Node 24 that npm has installed. Forwards signals to the child. Exits with the exit code of
 * the child, or with 1 if a signal ended the child.
 */
function runInInstalledNode() {
  const node = findInstalledNode();
  if (node === null) {
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

/** Returns the path of the Node 24 that npm has installed, in this package or beside it. Returns null if npm has installed no Node 24. */
function findInstalledNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    return null;
  }
}

function fail(reason) {
  process.stderr.write(`roomservice: ${reason}\n`);
  process.exitCode = 1;
}
