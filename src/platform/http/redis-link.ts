import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { inTime } from '../lib/in-time.ts';
import { parseRedisUrl } from '../lib/redis-url.ts';
import { RedisLosses } from './redis-losses.ts';
import { createRedisServers, type RedisServers, type Script } from './redis-servers.ts';

interface RedisLinkOptions {
  log: Logger;
  /** Time limit of a Redis command in milliseconds. `open` also waits at most this time for the connection. */
  commandMs: number;
  /** Maximum time between two attempts to connect to a server that is lost, in milliseconds. */
  reconnectEveryMs: number;
  /** Called when a lost server responds again. */
  onFound: (link: RedisLink) => void;
}

/** Connections of this process to Redis. Each command has a time limit, and a failed command is recorded in `losses`. */
export class RedisLink {
  readonly losses: RedisLosses;
  readonly #create: () => Promise<RedisServers>;
  readonly #onFound: (link: RedisLink) => void;
  readonly #commandMs: number;
  #servers: RedisServers;
  #isClosed = false;

  private constructor(
    servers: RedisServers,
    create: () => Promise<RedisServers>,
    { log, commandMs, onFound }: RedisLinkOptions,
  ) {
    this.losses = new RedisLosses(() => this.#servers, servers.slots, log);
    this.#servers = servers;
    this.#create = create;
    this.#onFound = onFound;
    this.#commandMs = commandMs;
  }

  /**
   * Opens the connections. The promise resolves as soon as Redis is connected and `begin` has ended, or after `commandMs`.
   * @param url a URL that `parseRedisUrl` accepts
   * @param begin called once when Redis is connected
   */
  static async open(
    url: string,
    options: RedisLinkOptions,
    begin: (link: RedisLink) => Promise<void>,
  ): Promise<RedisLink> {
    const address = parseRedisUrl(url);
    if (address === null) {
      throw new Error(
        'REDIS_URL is not a URL such as redis://user:password@host:6379/0. ' +
          'The check of the settings must refuse such a value, so this is a fault of the program.',
      );
    }
    const { reconnectEveryMs } = options;
    let link: RedisLink | null = null;
    const create = async () => {
      const onBroken = (slot: number, error: Error) => {
        if (link?.servers === created) {
          link.losses.lose(slot, error.message);
        }
      };
      const created: RedisServers = await createRedisServers({ address, reconnectEveryMs, onBroken });
      return created;
    };
    const opened = new RedisLink(await create(), create, options);
    link = opened;
    const beginning = opened.servers.connect().then(
      async () => await begin(opened),
      (error: Error) => opened.losses.lose(0, error.message),
    );
    // Waits until Redis is connected. If calls arrived earlier, only this process would count them, and Redis would not. The wait is
    // bounded, so that the process also starts if Redis does not run.
    await Promise.race([beginning, sleep(options.commandMs)]);
    return opened;
  }

  get servers(): RedisServers {
    return this.#servers;
  }

  /** Runs a script on the server that has the hash slot. Returns null if the script fails or the server does not respond in time. */
  async run(slot: number, script: Script): Promise<unknown> {
    try {
      const response = await inTime(this.#commandMs, (deadlineMs) => this.#servers.run(slot, script, deadlineMs));
      if (this.losses.find(slot) && !this.#isClosed) {
        this.#onFound(this);
      }
      return response;
    } catch (error) {
      this.losses.lose(slot, (error as Error).message);
      return null;
    }
  }

  /**
   * Runs a script like `run`, but does not wait for a lost server. While the server is lost, this function returns null immediately. It
   * still sends the script to the server from time to time, to find out if the server is back.
   */
  async runUnlessLost(slot: number, script: Script): Promise<unknown> {
    if (!this.losses.isLost(slot)) {
      return await this.run(slot, script);
    }
    if (this.losses.mayProbe(slot)) {
      void this.run(slot, script);
    }
    return null;
  }

  /**
   * Opens new connections to the current primaries of Redis. The Redis library follows most failovers without help. But if it learned the
   * primaries of a cluster while one primary was down, it does not ask for them again. The old connections stay open for twice the
   * time limit of a command, so that running commands still get their responses.
   */
  async renew(limitMs: number): Promise<void> {
    const renewed = await this.#create();
    try {
      await inTime(limitMs, async () => await renewed.connect());
    } catch {
      renewed.destroy();
      return;
    }
    const previous = this.#servers;
    this.#servers = renewed;
    setTimeout(() => previous.destroy(), 2 * this.#commandMs).unref();
    if (this.#isClosed) {
      renewed.destroy();
    }
  }

  /** Runs `end`, which may still use the connections. Then closes all connections immediately. */
  async close(end: () => Promise<void>): Promise<void> {
    this.#isClosed = true;
    await end();
    this.#servers.destroy();
  }
}
