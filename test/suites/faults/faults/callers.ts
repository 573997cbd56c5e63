import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from '../service-process.ts';
import type { SurroundingsWorld } from '../surroundings.ts';
import type { Fault, World } from '../world.ts';

const BODY_BYTES = 1024 ** 3;
const CHUNK = Buffer.alloc(64 * 1024, 'x');
const IDLE_SOCKETS = 10_000;
/** File descriptors that this process needs for other things. If its limit is low, the fault opens fewer idle sockets. */
const KEPT_DESCRIPTORS = 1_500;
const SLOW_SOCKETS = 200;
const IDLE_MS = 8_000;

/** Returns the status line of the response, which is empty if the connection was cut. */
async function sendHugeBody({ witness }: World, api: ServiceProcess): Promise<{ answer: string; sentMiB: number }> {
  const socket = connect(api.port, '127.0.0.1');
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let answer = '';
  let sent = 0;
  socket.on('error', () => resolve()).on('close', () => resolve());
  socket.on('data', (bytes: Buffer) => {
    answer ||= bytes.toString('latin1').split('\r\n', 1)[0] ?? '';
    resolve();
  });
  const headers = Object.entries(witness.partner.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST /v1/third-party/orders/ HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${headers.join('')}` +
      `content-length: ${BODY_BYTES}\r\n\r\n`,
  );
  const pour = () => {
    while (sent < BODY_BYTES && !socket.destroyed && socket.write(CHUNK)) sent += CHUNK.length;
  };
  socket.on('drain', pour);
  pour();
  await over;
  socket.destroy();
  return { answer, sentMiB: Math.round(sent / 1024 ** 2) };
}

function ownDescriptorLimit(): number {
  // Without /proc (on a system other than Linux), a low limit is assumed.
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : '';
  return Number(/Max open files\s+(\d+)/.exec(limits)?.[1] ?? 4_000);
}

/** Opens sockets in groups of 200, so that the accept queue of the service does not overflow. */
async function openSockets(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const portion = Array.from({ length: Math.min(200, count - sockets.length) }, () => connect(port, '127.0.0.1'));
    await Promise.all(
      portion.map((socket) => {
        socket.on('error', () => {});
        return new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      }),
    );
    sockets.push(...portion);
  }
  return sockets.filter((socket) => !socket.destroyed);
}

export const callerFaults: Fault<SurroundingsWorld>[] = [
  /** Each API process must refuse a body of 1 GiB (413) or cut the connection, and must not hold the body in memory. */
  {
    name: 'body-of-1-gb',
    async strike(world) {
      for (const api of world.apis) {
        const before = await api.residentMiB();
        const seen = await sendHugeBody(world, api);
        const grown = (await api.residentMiB()) - before;
        world.findings.note(`${api.name}: ${seen.answer || 'cut'} after ${seen.sentMiB} MiB, ${grown} MiB more memory`);
        if (!/^(?:HTTP\/1.1 413|$)/.test(seen.answer) || grown > 150) {
          world.findings.violation('a body of 1 GiB is refused', `${seen.answer}, ${grown} MiB more memory`);
        }
      }
      await sleep(2_000);
    },
  },
  /** Beside idle sockets, and sockets that each send one byte of headers per second, other callers must still be served. */
  {
    name: 'idle-sockets-and-slow-headers',
    async strike(world) {
      const [api] = world.apis;
      const count = Math.min(IDLE_SOCKETS, ownDescriptorLimit() - KEPT_DESCRIPTORS);
      const sockets = await openSockets(api.port, count);
      const slow = await openSockets(api.port, SLOW_SOCKETS);
      slow.forEach((socket) => socket.write('GET / HTTP/1.1\r\nhost: a\r\nx-slow: '));
      const dribble = setInterval(() => slow.forEach((socket) => socket.writable && socket.write('a')), 1_000);
      world.findings.note(`${sockets.length} idle sockets and ${slow.length} sockets with slow headers at ${api.name}`);
      await sleep(IDLE_MS);
      clearInterval(dribble);
      [...sockets, ...slow].forEach((socket) => socket.destroy());
      await sleep(1_000);
    },
  },
];
