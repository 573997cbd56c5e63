import { type Answer, type Request, send } from './attempt.ts';
import { RoomserviceError } from './errors.ts';
import { type CallOptions, type CheckedOptions, limitsOf } from './options.ts';
import { type Repeatability, retryWaitMs, waitFor } from './retry.ts';
import { VERSION } from './version.ts';

const USER_AGENT = `roomservice-sdk/${VERSION} node/${process.versions.node}`;

/** Path parameters, query and body of a call. Each operation needs only some of these fields. */
interface Parts {
  path?: Record<string, string> | undefined;
  query?: Record<string, string | number | undefined> | undefined;
  body?: unknown;
}

/** Input of one operation: the path, query and body that the OpenAPI document describes. */
type Input<Operation> = Omit<Operation, 'answer'>;

/** HTTP method and path of every operation of one API, by operation id. */
type Routes<Operations> = Record<keyof Operations, { method: string; path: string }>;

/**
 * Calls operations by their id, and retries failed calls. Only this class holds the API key and the secret. They are in private fields, so
 * a program that logs the client does not log them.
 */
export class Transport<Operations extends { [Name in keyof Operations]: Parts & { answer: unknown } }> {
  readonly #routes: Routes<Operations>;
  readonly #options: CheckedOptions;
  readonly #credential: Record<string, string>;

  /** @param credential headers that authenticate each request */
  constructor(routes: Routes<Operations>, options: CheckedOptions, credential: Record<string, string>) {
    this.#routes = routes;
    this.#options = options;
    this.#credential = credential;
  }

  /**
   * Calls an operation and returns the body of the response.
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

  /**
   * Calls an operation that creates an order or a reservation. Returns the body of the response, and adds `isReplayed`, which is true if
   * the external id was already in use.
   */
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

/**
 * Encodes a value as one segment of a URL path.
 * @throws TypeError if the value is empty, `.` or `..`, because a URL with such a segment leads to another path, or if it is not valid Unicode
 */
function pathSegment(name: string, value: string | undefined): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..' || /\p{Surrogate}/u.test(value)) {
    throw new TypeError(`${name}: must be a text that is not empty, "." or "..", without half of a surrogate pair`);
  }
  return encodeURIComponent(value);
}
