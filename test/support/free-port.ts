import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { runFolder } from './run-folder.ts';

/**
 * First port of the range from which `freePort` chooses. The operating system takes the ports of outgoing connections from another range.
 * So an outgoing connection cannot take the chosen port before the program of the caller listens on it.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

const taken = new Set<number>();

/**
 * Returns a free port of 127.0.0.1, for a program that cannot choose a free port itself. No later call in this test run returns the same
 * port, because the program of the first caller may not listen on it yet. A program outside of the test run could still take the port.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if ((await take(port)) && (await isFree(port))) {
      return port;
    }
  }
}

/** Takes a port for this call of `freePort`. Returns false if an earlier call in this process or in this test run has taken the port. */
async function take(port: number): Promise<boolean> {
  if (taken.has(port)) {
    return false;
  }
  taken.add(port);
  const folder = runFolder();
  if (folder === undefined) {
    return true;
  }
  // The first call makes the folder `ports` of the run. For each port, the process that makes the folder of this port has taken it.
  await mkdir(join(folder, 'ports'), { recursive: true });
  try {
    await mkdir(join(folder, 'ports', String(port)));
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') {
      return false;
    }
    throw error;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

export async function acceptsConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
