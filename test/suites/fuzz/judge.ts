import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ORDERS } from '../../support/restaurant.ts';
import { type Case, describeCase, type HttpCase, toLine } from './cases.ts';
import type { Operation } from './operations.ts';
import { faultsOf, insideFaults } from './oracle.ts';
import { prepare, send } from './send.ts';
import { exchangeRaw } from './send-raw.ts';
import { Tally } from './tally.ts';
import { collectionOf, type World } from './world.ts';

/** Message with which the service says at its start which database it uses. It may have the path of a socket. */
const DATABASE = /"msg":"Database: [^"]*"/;

/** Faults that one case has revealed, and the statuses of the responses to the case. */
interface Judged {
  faults: string[];
  statuses: number[];
}

/** Smallest `level` of a log line that reports an error. */
const ERROR_LEVEL = 50;

const ORDER_BODY = '{"external_order_id":"ID","items":[{"item_id":"WATER","quantity":1}]}';
const ORDER: HttpCase = {
  kind: 'http',
  operation: 'createOrder',
  actor: 'partner',
  method: 'POST',
  target: ORDERS,
  headers: [['Content-Type', 'application/json']],
  body: null,
  isChunked: false,
};
/**
 * Time to wait after a request that got no response. This wait is necessary, because `World.isRunning` becomes false only some time after
 * the process of the service has ended.
 */
const END_MS = 200;

/** Returns the text of a failure: the fault, the case that revealed it, and the command that sends this case again. */
export function failureOf(fault: string, each: Case): string {
  return `${fault}\n  ${describeCase(each)}\n  npm run test:fuzz -- --replay '${toLine(each)}'`;
}

/** Sends cases, and reports faults that it finds in the responses and in the log of the service. */
export class Judge {
  readonly tally = new Tally();
  readonly #world: World;
  readonly #operations: Operation[];
  /** Cases that were sent since the log was last read, keyed by the request id, which the log lines contain. */
  readonly #sent = new Map<string, Case>();

  constructor(world: World, operations: Operation[]) {
    this.#world = world;
    this.#operations = operations;
  }

  async judge(each: Case): Promise<Judged> {
    return each.kind === 'raw' ? await exchangeRaw(this.#world, each) : await this.#judgeHttp(each);
  }

  /**
   * Returns the faults in new log lines. A fault names the case that caused the line, if the line has the request id of
   * a case.
   */
  logFaults(): string[] {
    const [lines, others] = partition(this.#world.newLogLines(), isJson);
    const faults = lines.flatMap((line) => {
      const each = this.#sent.get(/"request_id":"([^"]+)"/.exec(line)?.[1] ?? '');
      const found = [
        ...levelFaults(line),
        ...insideFaults(line.replace(DATABASE, '')),
        ...this.#world.secrets.findLeaks(line, line),
      ];
      return found.map((fault) => {
        const told = `a log line has a fault: ${fault}\n  ${line.slice(0, 2_000)}`;
        return each === undefined ? told : failureOf(told, each);
      });
    });
    this.#sent.clear();
    return others.length === 0
      ? faults
      : [...faults, `the service printed lines that are not JSON: ${others.join('\n  ')}`];
  }

  /** Returns true if the service responds to `/livez` with 200. Then its process has not ended and is not blocked. */
  async isAlive(): Promise<boolean> {
    const { statuses } = await this.judge({ ...ORDER, method: 'GET', target: '/livez', headers: [], body: null });
    return statuses[0] === 200;
  }

  /**
   * Checks after the last case that the service is still ready and accepts an order.
   * @returns the faults
   */
  async stillServes(): Promise<string[]> {
    if (!(await this.isAlive())) {
      return [this.#world.isRunning ? 'the service no longer responds' : 'the service has ended'];
    }
    await this.#world.restore();
    const ready = await this.judge({ ...ORDER, method: 'GET', target: '/readyz', headers: [], body: null });
    const text = ORDER_BODY.replace('ID', randomUUID());
    const placed = await this.judge({ ...ORDER, body: { encoding: 'json', text } });
    const isServing = ready.statuses[0] === 200 && placed.statuses[0] === 201;
    const told = [...ready.statuses, ...ready.faults, ...placed.statuses, ...placed.faults].join(', ');
    return [
      ...(isServing ? [] : [`the service is not ready or does not accept an order: ${told}`]),
      ...this.logFaults(),
    ];
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
}

function levelFaults(line: string): string[] {
  const { level } = JSON.parse(line) as { level: number };
  return level >= ERROR_LEVEL ? [`level ${level}`] : [];
}

function isJson(line: string): boolean {
  return line.startsWith('{') && line.endsWith('}');
}

function partition<T>(all: T[], isFirst: (each: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))];
}
