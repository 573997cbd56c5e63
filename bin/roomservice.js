#!/usr/bin/env node
// This file is plain JavaScript, because an older Node must be able to run it. The older Node then starts this command again with the Node
// 24 that npm has installed in node_modules.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

// The command `serve` makes the thread pool of Node larger, from 4 to 256 threads. `serve` sends webhooks, and Node looks up the host names
// of their receivers in this pool, on at most half of the threads. A lookup that gets no response blocks its thread. In a test with ten
// such lookups, deliveries to healthy receivers waited 11 s with 4 threads, but only 0.2 s with 256 threads. An unused thread costs 10 KiB.
// The other commands send no webhooks. They keep 4 threads, because creating 256 threads takes 60 ms of processor time.
if (process.argv[2] === 'serve') {
  // oxlint-disable-next-line node/no-process-env -- read by Node itself, before any configuration
  process.env.UV_THREADPOOL_SIZE ??= '256';
}

// A checkout has the folder `src`, and Node runs its TypeScript files. The npm package has no `src`. It has the folder `dist` with
// JavaScript files, which scripts/build-package.ts has compiled.
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
  // V8 and glibc read the settings of start-settings.js only at the start of a program. So `serve` calls execve, which starts the same
  // command again with these settings, in the same process. A setting that the operator has set keeps its value.
  const { env, execArgv, execPath, argv } = process;
  const given = [...execArgv, env.NODE_OPTIONS ?? ''].join(' ');
  const flags = START_FLAGS.filter((flag) => !given.includes(flag.split('=')[0]));
  const isSet = flags.length === 0 && Object.keys(START_ENVIRONMENT).every((name) => name in env);
  if (argv[2] === 'serve' && canStartAgain() && !isSet) {
    process.execve(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], { ...START_ENVIRONMENT, ...env });
  }
  // Node stores the compiled code in this folder, so the next start needs a quarter less CPU time. The folder is in node_modules, beside
  // the code of the service. A person who can change the compiled code can also change the code of the service, so the folder adds no risk.
  // If Node cannot write to the folder, Node compiles the code at each start.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/roomservice', import.meta.url)));
  const { resolveImportsQuickly } = await import(`${COMMANDS}/resolve-imports.js`);
  const { main } = await import(`${COMMANDS}/main.${isCheckout ? 'ts' : 'js'}`);
  // From this call on, Node resolves relative imports without a check for symbolic links. This is safe, because the path of such an import
  // has two parts, and neither part contains a symbolic link:
  // - The first part is the folder of the importing module. Node has already removed all symbolic links from the paths of the loaded
  //   modules. All further imports begin in these modules.
  // - The second part leads to another module of the same package. Neither our package nor a package from npm contains symbolic links.
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
