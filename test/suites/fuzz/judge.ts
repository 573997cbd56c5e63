import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection, type RawAnswer } from '../../support/raw-http.ts';
import { type Case, describeCase, type HttpCase, type RawCase } from './cases.ts';
import type { Operation } from './operations.ts';
import { faultsOf, insideFaults, refusalFaults } from './oracle.ts';
import { HEADERS } from './raw.ts';
import { LIMIT_MS, prepare, send } from './send.ts';
import { collectionOf, type World } from './world.ts';

/** Message with which the service says at its start which database it uses. It may have the path of a socket. */
const DATABASE = /"msg":"Database: [^"]*"/;
const ERROR_LEVEL = 50;
/** Wait after a request without a response. `World.isRunning` becomes false only some time after the process has ended. */
const END_MS = 200;

interface Judged {
  faults: string[];
  statuses: number[];
}

export function failureOf(fault: string, each: Case): string {
  return `${fault}\n  ${describeCase(each)}`;
}

/** Sends cases, and reports faults that it finds in the responses and in the log of the service. */
export class Judge {
  readonly #world: World;
  readonly #operations: Operation[];
  /** Cases that were sent since the log was last read, keyed by the request id, which the log lines contain. */
  readonly #sent = new Map<string, Case>();

  constructor(world: World, operations: Operation[]) {
    this.#world = world;
    this.#operations = operations;
  }

  async judge(each: Case): Promise<Judged> {
    return each.kind === 'raw' ? await this.#judgeRaw(each) : await this.#judgeHttp(each);
  }

  logFaults(): string[] {
    const found = this.#world.newLogLines().flatMap((line) => {
      const each = this.#sent.get(/"request_id":"([^"]+)"/.exec(line)?.[1] ?? '');
      const faults = [
        ...levelFaults(line),
        ...insideFaults(line.replace(DATABASE, '')),
        ...this.#world.secrets.findLeaks(line, line),
      ];
      return faults.map((fault) => {
        const told = `a log line has a fault: ${fault}\n  ${line.slice(0, 2_000)}`;
        return each === undefined ? told : failureOf(told, each);
      });
    });
    this.#sent.clear();
    return found;
  }

  /** Returns true if the process of the service has not ended and is not blocked. */
  async isAlive(): Promise<boolean> {
    return (await this.#statusOf('/livez')) === 200;
  }

  /** Checks after the last case that the service is still ready and accepts orders. Returns the faults. */
  async stillServes(): Promise<string[]> {
    if (!(await this.isAlive())) {
      return [this.#world.isRunning ? 'the service no longer responds' : 'the service has ended'];
    }
    await this.#world.restore();
    const ready = await this.#statusOf('/readyz');
    const refused = await this.#world.restock('/orders/{id}/').then(
      () => [],
      (error: unknown) => [`the service does not accept an order: ${String(error)}`],
    );
    return [...(ready === 200 ? [] : [`the service is not ready: ${ready}`]), ...refused, ...this.logFaults()];
  }

  async #statusOf(path: string): Promise<number | undefined> {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const answer = await fetch(this.#world.url + path, { signal }).catch(() => null);
    await answer?.arrayBuffer();
    return answer?.status;
  }

  async #judgeHttp(each: HttpCase): Promise<Judged> {
    const sent = prepare(this.#world, each);
    this.#sent.set(String(sent.headers['X-Request-Id']), each);
    const outcome = await send(this.#world.url, sent);
    const faults = faultsOf(this.#world, this.#operations, sent, outcome);
    if (outcome.kind === 'fault') {
      await sleep(END_MS);
      return { faults, statuses: [] };
    }
    const hasJson = String(outcome.headers['content-type']).startsWith('application/json');
    if (hasJson && outcome.status < 300 && faults.length === 0 && outcome.text !== '') {
      const answer: unknown = JSON.parse(outcome.text);
      this.#world.pools.learn(answer, collectionOf(sent.target.split('?', 1)[0] ?? ''));
      this.#world.secrets.learn(answer);
    }
    return { faults, statuses: [outcome.status] };
  }

  async #judgeRaw(each: RawCase): Promise<Judged> {
    const connection = openConnection(this.#world.url);
    const { socket, send: write } = connection;
    let received = '';
    socket.on('data', (text) => (received += String(text)));
    const headers = Object.entries(this.#world.headersOf(each.actor, Buffer.alloc(0)));
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    for (const piece of each.pieces) {
      write(piece.replaceAll(HEADERS, lines));
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
    if (answers === null) {
      return { statuses: [], faults: [`the connection is still open after ${LIMIT_MS} ms`] };
    }
    const final = answers.filter(({ status }) => status >= 200);
    const faults = [
      ...rawFaults(each, final, received),
      ...this.#world.secrets.findLeaks(received, each.pieces.join('')),
    ];
    return { statuses: final.map(({ status }) => status), faults };
  }
}

function levelFaults(line: string): string[] {
  if (!line.startsWith('{') || !line.endsWith('}')) {
    return ['it is not JSON'];
  }
  const { level } = JSON.parse(line) as { level: number };
  return level >= ERROR_LEVEL ? [`level ${level}`] : [];
}

function rawFaults({ answersDue }: RawCase, answers: RawAnswer[], received: string): string[] {
  const statusLines = received.match(/HTTP\/1\.1 [2-9]\d\d /g) ?? [];
  const [due, seen] = [answersDue, answers.length];
  return [
    ...(seen < due ? [`${seen} responses, but at least ${due} are expected`] : []),
    ...(statusLines.length === seen ? [] : [`a response was cut off: ${received.slice(-200)}`]),
    ...answers.flatMap(answerFaults),
    ...insideFaults(received),
  ];
}

function answerFaults({ status, headers, body }: RawAnswer): string[] {
  return [
    ...(status >= 400 ? refusalFaults(status, body) : []),
    ...(headers['content-type']?.startsWith('application/json') ? [] : [`Content-Type is ${headers['content-type']}`]),
    ...(headers['x-request-id'] === undefined ? ['X-Request-Id is missing'] : []),
    ...(headers['server'] === undefined ? [] : ['a header names the server']),
  ];
}
