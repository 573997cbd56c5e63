import { type Answer, type Request, send } from './attempt.ts';
import { RoomserviceError } from './errors.ts';
import { type CallOptions, type CheckedOptions, limitsOf } from './options.ts';
import { type Repeatability, retryWaitMs, waitFor } from './retry.ts';
import { VERSION } from './version.ts';

const USER_AGENT = `roomservice-sdk/${VERSION} node/${process.versions.node}`;

/** What an operation may take. */
interface Parts {
  path?: Record<string, string> | undefined;
  query?: Record<string, string | number | undefined> | undefined;
  body?: unknown;
}

/** What one operation takes, as its document says. */
type Input<Operation> = Omit<Operation, 'answer'>;

/** The operations of one API: their types by id, and where they are. */
type Routes<Operations> = Record<keyof Operations, { method: string; path: string }>;

/** Calls operations by their id, again where that helps. It alone knows key and secret, and keeps them to itself. */
export class Transport<Operations extends { [Name in keyof Operations]: Parts & { answer: unknown } }> {
  readonly #routes: Routes<Operations>;
  readonly #options: CheckedOptions;
  readonly #credential: Record<string, string>;

  /** @param credential the headers that authenticate */
  constructor(routes: Routes<Operations>, options: CheckedOptions, credential: Record<string, string>) {
    this.#routes = routes;
    this.#options = options;
    this.#credential = credential;
  }

  /**
   * @returns the body of the answer
   * @throws RoomserviceError
   */
  async call<Name extends keyof Operations>(
    name: Name,
    input: Input<Operations[Name]>,
    options?: CallOptions,
    repeatability?: Repeatability,
  ): Promise<Operations[Name]['answer']> {
    return (await this.#exchange(name, input, options, repeatability)).body;
  }

  /** Calls a create: its answer, and whether the external id was in use already. */
  async create<Name extends keyof Operations>(
    name: Name,
    input: Input<Operations[Name]>,
    options?: CallOptions,
  ): Promise<Operations[Name]['answer'] & { isReplayed: boolean }> {
    const { body, isReplayed } = await this.#exchange(name, input, options);
    return Object.assign({}, body, { isReplayed });
  }

  async #exchange<Name extends keyof Operations>(
    name: Name,
    input: Parts,
    options: CallOptions = {},
    repeatability: Repeatability = 'always',
  ): Promise<Answer & { body: Operations[Name]['answer'] }> {
    const request = this.#request(name, input);
    const { timeoutMs, maxRetries } = limitsOf(options, this.#options);
    for (let number = 1; ; number += 1) {
      try {
        return await send(request, { number, timeoutMs, signal: options.signal });
      } catch (error) {
        if (!(error instanceof RoomserviceError) || number > maxRetries) throw error;
        const waitMs = retryWaitMs(error, repeatability);
        if (waitMs === null) throw error;
        await waitFor(waitMs, options.signal);
      }
    }
  }

  #request(name: keyof Operations, { path = {}, query = {}, body }: Parts): Request {
    const route = this.#routes[name];
    const target = route.path.replace(/\{(\w+)\}/g, (_, parameter: string) => pathSegment(parameter, path[parameter]));
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) {
      if (value !== undefined) search.set(key, String(value));
    }
    const headers = { ...this.#credential, accept: 'application/json', 'user-agent': USER_AGENT };
    return {
      url: `${this.#options.baseUrl}${target}${search.size === 0 ? '' : `?${search}`}`,
      method: route.method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    };
  }
}

/** @throws TypeError for what no URL can hold as one of its segments: `..` would silently lead to another path */
function pathSegment(name: string, value: string | undefined): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..') {
    throw new TypeError(`${name}: must be a text other than "", "." and ".."`);
  }
  return encodeURIComponent(value);
}
