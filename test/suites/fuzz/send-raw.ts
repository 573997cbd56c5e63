import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection, type RawAnswer } from '../../support/raw-http.ts';
import type { RawCase } from './cases.ts';
import { insideFaults, refusalFaults } from './oracle.ts';
import { HEADERS } from './raw.ts';
import { LIMIT_MS } from './send.ts';
import type { World } from './world.ts';

/**
 * Sends the bytes of a raw case on a new connection.
 * @returns the faults and the statuses of the responses
 */
export async function exchangeRaw(world: World, each: RawCase): Promise<{ statuses: number[]; faults: string[] }> {
  const connection = openConnection(world.url);
  const { socket, send } = connection;
  let received = '';
  socket.on('data', (text) => (received += String(text)));
  const lines = Object.entries(world.headersOf(each.actor, Buffer.alloc(0))).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  for (const piece of each.pieces) {
    send(piece.replaceAll(HEADERS, lines.join('')));
    if (each.pauseMs > 0) {
      await sleep(each.pauseMs);
    }
  }
  if (each.ending === 'leave') {
    socket.destroy();
    return { statuses: [], faults: [] };
  }
  socket.end();
  // If the server resets the connection, the responses that have arrived until then count, as after a normal close.
  const answers = await Promise.race([connection.closed(), sleep(LIMIT_MS, null)]);
  socket.destroy();
  return answers === null
    ? { statuses: [], faults: [`the connection is still open after ${LIMIT_MS} ms`] }
    : judge(world, each, answers, received);
}

function judge(world: World, each: RawCase, answers: RawAnswer[], received: string) {
  const final = answers.filter(({ status }) => status >= 200);
  const statusLines = received.match(/HTTP\/1\.1 [2-9]\d\d /g) ?? [];
  const faults = [
    ...(final.length < each.answersDue
      ? [`${final.length} responses, but at least ${each.answersDue} are expected`]
      : []),
    ...(statusLines.length === final.length ? [] : [`a response was cut off: ${received.slice(-200)}`]),
    ...final.flatMap(answerFaults),
    ...insideFaults(received),
    ...world.secrets.findLeaks(received, each.pieces.join('')),
  ];
  return { statuses: final.map(({ status }) => status), faults };
}

function answerFaults({ status, headers, body }: RawAnswer): string[] {
  return [
    ...(status >= 400 ? refusalFaults(status, body) : []),
    ...(headers['content-type']?.startsWith('application/json') ? [] : [`Content-Type is ${headers['content-type']}`]),
    ...(headers['x-request-id'] === undefined ? ['X-Request-Id is missing'] : []),
    ...(headers['server'] === undefined ? [] : ['a header names the server']),
  ];
}
