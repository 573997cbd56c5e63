#!/usr/bin/env node
// Plain JavaScript that an older Node can run. The older Node starts this command again with the Node 24 that npm has installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';

const [major, minor] = process.versions.node.split('.').map(Number);
await (major > 24 || (major === 24 && minor >= 7) ? runHere() : runInInstalledNode().catch(refuse));

async function runHere() {
  // `serve` looks up the hosts of webhooks in the thread pool of Node, on at most half of the threads. With the 4 threads of Node, lookups
  // that get no response would delay all deliveries. The other commands need only 4 threads, because it takes 60 ms to start 256.
  if (process.argv[2] === 'serve') {
    // oxlint-disable-next-line node/no-process-env -- read by Node itself, before any configuration
    process.env.UV_THREADPOOL_SIZE ??= '256';
  }
  // The older Node that started this process was killed. It could not forward the signal, so this process ends in the same way.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
  const { BUNDLE, isFresh } = await import('./bundle.js');
  process.setSourceMapsEnabled(true);
  const { main } = await import(isFresh() ? BUNDLE.href : '../src/service/cli/main.ts');
  await main(process.argv);
}

/** Passes signals and the exit code on. The channel closes when this process ends, so the child also learns of a SIGKILL. */
async function runInInstalledNode() {
  const { argv, execArgv, platform, arch } = process;
  const node = createRequire(import.meta.url).resolve(`node-${platform}-${arch}/bin/node`);
  const child = spawn(node, [...execArgv, ...argv.slice(1)], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const [code, signal] = await once(child, 'exit');
  process.exit(signal === null ? code : 1);
}

function refuse({ code }) {
  const fault = `but this is Node ${process.versions.node}, and that of node_modules cannot be started (${code})`;
  process.stderr.write(`roomservice: Node 24.7 or later is needed, ${fault}. Install it, or run "npm ci" again.\n`);
  process.exit(1);
}
