import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyTenantDocument } from '#service/tenant-document/tenant-document.ts';
import { channelHeaders, nowSeconds } from '../../support/channel.ts';
import { cleanUp, type Serving, startServingProgram } from '../../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { call as callService } from '../../support/service.ts';
import type { Actor } from './cases.ts';
import { type Call, type Callers, Furnisher, openCallers } from './furnish.ts';
import { bareDocument, fuzzedDocument, PASSWORD, RIVAL_MARK, rivalDocument } from './house.ts';
import { Pools } from './pools.ts';
import { Secrets } from './secrets.ts';

const DAY_SECONDS = 86_400;
const STOP_LIMIT_MS = 5_000;

/** A service in its own process with the three tenants of `house.ts`. */
export class World {
  readonly url: string;
  readonly pools = new Pools();
  readonly secrets = new Secrets();
  readonly #database: TestDatabase;
  readonly #serving: Serving;
  readonly #house = fuzzedDocument('house');
  #callers: Record<'house' | 'bare', Callers> | undefined;
  #furnisher: Furnisher | undefined;
  #readLog = 0;
  #isRunning = true;

  private constructor(database: TestDatabase, serving: Serving, masterKey: string) {
    this.#database = database;
    this.#serving = serving;
    this.url = serving.url;
    void serving.ended.then(() => (this.#isRunning = false));
    this.secrets.add(masterKey);
    this.secrets.add(PASSWORD);
  }

  static async open(): Promise<World> {
    const database = await createTestDatabase();
    const masterKey = randomBytes(32).toString('base64');
    try {
      const serving = await startServingProgram(['--only', 'api'], { env: environment(database.url, masterKey) });
      const world = new World(database, serving, masterKey);
      await world.#furnish();
      return world;
    } catch (error) {
      await cleanUp();
      await database.drop();
      throw error;
    }
  }

  /** Restores the menu, the room types and the rate plans of the first tenant, because earlier cases may have changed them. */
  async restore(): Promise<void> {
    const { users, ...document } = this.#house;
    await applyTenantDocument(this.#database.db, document);
  }

  /** Creates new objects for the operation of a path. Call `restore` first, because the orders need the menu. */
  async restock(path: string): Promise<void> {
    await this.#furnisher?.restock(path);
  }

  /** @param body the exact bytes of the body, because a channel signs them */
  headersOf(actor: Actor, body: Buffer): Record<string, string> {
    if (this.#callers === undefined) {
      throw new Error('World.open has not finished.');
    }
    const { house, bare } = this.#callers;
    const wrong = randomBytes(32).toString('base64url');
    const late = nowSeconds() - DAY_SECONDS;
    const headers: Record<Actor, () => Record<string, string>> = {
      anonymous: () => ({}),
      partner: () => house.partner,
      pms: () => house.pms,
      owner: () => house.owner,
      'owner with a cookie': () => house.console,
      staff: () => house.staff,
      channel: () => channelHeaders(house.channel, body),
      'partner with a wrong secret': () => ({ ...house.partner, 'x-api-secret': wrong }),
      'pms with a wrong secret': () => ({ ...house.pms, 'x-pms-api-secret': wrong }),
      'revoked partner': () => house.revoked,
      'forged owner': () => ({ authorization: forged(house.owner['authorization'] ?? '') }),
      'channel with a wrong signature': () => channelHeaders({ ...house.channel, channel_secret: wrong }, body),
      'channel of yesterday': () => channelHeaders(house.channel, body, { at: late }),
      'partner without features': () => bare.partner,
      'staff without features': () => bare.staff,
      'channel without features': () => channelHeaders(bare.channel, body),
    };
    const { 'content-type': _type, ...found } = headers[actor]();
    return found;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  newLogLines(): string[] {
    const output = this.#serving.output();
    const lines = output.slice(this.#readLog, output.lastIndexOf('\n') + 1).split('\n');
    this.#readLog = output.lastIndexOf('\n') + 1;
    return lines.filter((line) => line !== '');
  }

  async close(): Promise<void> {
    this.#serving.kill('SIGTERM');
    // A blocked process does not handle SIGTERM. So the wait ends after this time, and `cleanUp` kills the process.
    await Promise.race([this.#serving.ended, sleep(STOP_LIMIT_MS)]);
    await cleanUp();
    await this.#database.drop();
  }

  async #furnish(): Promise<void> {
    for (const document of [this.#house, rivalDocument(), bareDocument()]) {
      await applyTenantDocument(this.#database.db, document);
    }
    const call: Call = (...request) => callService(this.url, ...request);
    const house = await openCallers(call, 'house');
    const rival = await openCallers(call, RIVAL_MARK.toLowerCase());
    const bare = await openCallers(call, 'bare');
    this.#callers = { house, bare };
    [...house.ownIds, ...rival.ownIds].forEach((id) => this.pools.reserve(id));
    this.secrets.learn([house, rival, bare]);
    this.#furnisher = new Furnisher(this.#learning(call, ''), house, 'ours');
    await this.#furnisher.furnish();
    await new Furnisher(this.#learning(call, 'rival.'), rival, RIVAL_MARK).furnish();
    this.#house.users?.forEach(({ email }) => this.pools.add('email', email));
    this.pools.add('password', PASSWORD);
    this.secrets.setForeign([RIVAL_MARK, RIVAL_MARK.toLowerCase()], this.pools.madeHere('rival.').filter(isOpaque));
  }

  #learning(call: Call, prefix: string): Call {
    return async (method, path, options) => {
      const answer = await call(method, path, options);
      this.pools.learn(answer.body, collectionOf(path), prefix);
      this.secrets.learn(answer.body);
      return answer;
    };
  }
}

/** Returns the last segment of a path that is not an id or a parameter, with `_` in place of `-`. */
export function collectionOf(path: string): string {
  const steps = path.split('/').filter((step) => step !== '' && !/^[0-9a-f-]{36}$|^\{/.test(step));
  return (steps.at(-1) ?? '').replaceAll('-', '_');
}

/** Only one tenant can have a UUID. An external id such as `plain` can belong to several tenants. */
function isOpaque(value: string): boolean {
  return /^[0-9a-f-]{36}$/.test(value);
}

function forged(authorization: string): string {
  const signed = authorization.split('.').slice(0, 2).join('.');
  return `${signed}.${createHmac('sha256', 'no key of the service').update(signed).digest('base64url')}`;
}

function environment(databaseUrl: string, masterKey: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: masterKey,
    LOG_LEVEL: 'trace',
    RATE_LIMIT_PER_MINUTE: '1000000000',
    // Each request sets its client address, because the service limits the sign-ins from each address.
    TRUSTED_PROXIES: '127.0.0.1',
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    PATH: process.env['PATH'] ?? '',
  };
}
