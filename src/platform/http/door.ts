import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnavailableError } from '../errors.ts';
import { MAX_STRANGER_BODY_BYTES } from '../lib/bounds.ts';
import { Gate } from '../lib/gate.ts';
import { clientNetwork } from './client-address.ts';

/** Kinds of places that requests take while they are under way: how many of them a process has, and how many of those one holder. */
const PLACES = {
  /**
   * The default behind a guard. The database has fewer connections than places, and more calls under way would not be answered sooner. A
   * tenant has three quarters of the default pool. With more, it keeps all cores of the database busy, and the others wait.
   */
  call: { places: 256, placesOfKey: 15 },
  /** A call whose work or response may be long, such as a list, a calendar, or a call with a large body. It takes a `call` too. */
  long: { places: 256, placesOfKey: 3 },
  /** A write of up to 1,000 nights, which takes a `call` too. Of two at once, the database is so busy that other tenants notice it. */
  bulk: { places: 256, placesOfKey: 1 },
  /** A count over very many rows. */
  report: { places: 2, placesOfKey: 1 },
  /** A large document, which is beside the places of the tenant. */
  document: { places: 4, placesOfKey: 1 },
  /** A call of a channel, whose key is no secret. So it has places of its own, outside those of its tenant. */
  channel: { places: 256, placesOfKey: 4 },
  /** A call without a guard. It takes its place after its small body has arrived. The default without a guard. */
  stranger: { places: 32, placesOfKey: 4 },
};

/** `none`: the response is ready at once, and waits for nothing. */
type Place = keyof typeof PLACES | 'none';

declare module 'fastify' {
  interface FastifyContextConfig {
    place?: Place;
  }
  interface FastifyInstance {
    door: Door;
  }
  interface FastifyRequest {
    /** Whose place the request takes: id of a tenant or of a channel, which the guard sets. Empty for a stranger. */
    holder: string;
    place: HeldPlace | null;
  }
}

/** Largest body of a call that is not a long one. The usual order has 1 KB, and one of 16 KB has a hundred items. */
const LARGE_BODY_BYTES = 16 * 1024;
const MAX_WAIT_MS = 10_000;

/** The one place where requests wait: behind authentication and budget, before the body (docs/decisions/0003-door.md). */
class Door {
  readonly #calls = gateOf('call');
  readonly #strangers = gateOf('stranger');
  readonly #gates: Record<Place, Gate[]> = {
    call: [this.#calls],
    long: [gateOf('long'), this.#calls],
    bulk: [gateOf('bulk'), this.#calls],
    report: [gateOf('report')],
    document: [gateOf('document')],
    channel: [gateOf('channel')],
    stranger: [this.#strangers],
    none: [],
  };

  get waiting(): number {
    return Object.values(this.#gates).reduce((sum, [gate]) => sum + (gate?.waiting ?? 0), 0);
  }

  /** Takes a place. Calls `done` with it, or with the error that refuses it, or never if the client leaves before. */
  enter(request: FastifyRequest, reply: FastifyReply, kind: Place, done: (error?: Error) => void): void {
    if (kind === 'none') {
      done();
      return;
    }
    const holder = request.holder === '' ? clientNetwork(request.clientAddress) : request.holder;
    const gates = this.#gates[kind];
    const begin = () => {
      request.place = new HeldPlace(reply, () => gates.forEach((gate) => gate.leave(holder)));
      done();
    };
    if (tryEnterAll(gates, holder)) {
      begin();
      return;
    }
    const left = new AbortController();
    const abort = () => left.abort();
    reply.raw.once('close', abort);
    // Who got in is not aborted at the end of the response: each `abort` makes an error with its stack.
    enterAll(gates, holder, left.signal)
      .finally(() => reply.raw.off('close', abort))
      .then(begin, (error: Error) => left.signal.aborted || done(error));
  }

  /** Runs a look-up in the database for a caller who is still a stranger, in one of the places of strangers. */
  async lookUp<Result>(request: FastifyRequest, work: () => Promise<Result>): Promise<Result> {
    return await this.#strangers.run(clientNetwork(request.clientAddress), work);
  }
}

/** Interval in milliseconds at which the handler of a client that has left is asked if it has ended. */
const LOOK_EVERY_MS = 50;

/** Free when the response is done. A handler whose client has left keeps it until the handler has ended. */
class HeldPlace {
  #leave: (() => void) | null;

  constructor({ raw }: FastifyReply, leave: () => void) {
    this.#leave = leave;
    if (raw.destroyed) {
      this.#leaveWhenEnded(raw);
    } else {
      raw.once('close', () => this.#leaveWhenEnded(raw));
    }
  }

  leave(): void {
    this.#leave?.();
    this.#leave = null;
  }

  #leaveWhenEnded(response: ServerResponse): void {
    if (response.writableEnded || this.#leave === null) {
      this.leave();
    } else {
      setTimeout(() => this.#leaveWhenEnded(response), LOOK_EVERY_MS).unref();
    }
  }
}

/** Largest number of requests that begin in one iteration of the event loop. They take about 2 ms, so no connection waits long for them. */
const MAX_TOGETHER = 24;

/** Requests of one iteration of the event loop begin together. Many short ones then take a third less time, thanks to warm caches. */
export function createTogether(): (begin: () => void) => void {
  const waiting: (() => void)[] = [];
  const beginNext = () => {
    const now = waiting.splice(0, MAX_TOGETHER);
    if (waiting.length > 0) {
      setImmediate(beginNext);
    }
    now.forEach((begin) => begin());
  };
  return (begin) => {
    waiting.push(begin);
    if (waiting.length === 1) {
      setImmediate(beginNext);
    }
  };
}

export function addDoor(app: FastifyInstance): void {
  const door = new Door();
  app.decorate('door', door);
  app.decorateRequest('holder', '');
  app.decorateRequest('place', null);
  app.addHook('onRoute', (route) => {
    const isGuarded = [route.onRequest].flat().some((hook) => hook !== undefined && 'security' in hook);
    const place = route.config?.place ?? (isGuarded ? 'call' : 'stranger');
    route.config = { ...route.config, place };
    if (place === 'stranger') {
      route.bodyLimit ??= MAX_STRANGER_BODY_BYTES;
    }
  });
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { place = 'none' } = request.routeOptions.config;
    const isLong = place === 'call' && hasLargeBody(request.headers);
    door.enter(request, reply, isLong ? 'long' : place === 'stranger' ? 'none' : place, done);
  });
  app.addHook('preValidation', (request, reply, done) => {
    const { place } = request.routeOptions.config;
    door.enter(request, reply, place === 'stranger' ? place : 'none', done);
  });
}

/** Returns true if the body may be large. The length of a body in chunks is not known before its end. */
function hasLargeBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LARGE_BODY_BYTES;
}

function tryEnterAll(gates: Gate[], holder: string): boolean {
  const refused = gates.findIndex((gate) => !gate.tryEnter(holder));
  gates.slice(0, Math.max(refused, 0)).forEach((gate) => gate.leave(holder));
  return refused < 0;
}

async function enterAll(gates: Gate[], holder: string, signal: AbortSignal): Promise<void> {
  const entered: Gate[] = [];
  try {
    for (const gate of gates) {
      await gate.enter(holder, signal);
      entered.push(gate);
    }
  } catch (error) {
    entered.forEach((gate) => gate.leave(holder));
    throw error;
  }
}

function gateOf(kind: keyof typeof PLACES): Gate {
  return new Gate({ ...PLACES[kind], maxWaitMs: MAX_WAIT_MS, refusal: waitedTooLong });
}

function waitedTooLong(): Error {
  return new UnavailableError(
    `The request waited ${MAX_WAIT_MS / 1_000} s for the requests before it. Send fewer at the same time.`,
  );
}
