const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_RETRIES = 3;

export interface ClientOptions {
  /** Address of the service. It must begin with `https`, or with `http` if the service runs on the same machine. */
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  /** Time limit of each attempt in milliseconds, from the connection to the last byte of the response. Default: 30,000. */
  timeoutMs?: number | undefined;
  /** Largest number of retries of a call after temporary failures, such as a 5xx or a lost connection. Default: 3. */
  maxRetries?: number | undefined;
  /**
   * Allows `http` to another machine. The API key and secret are then sent unencrypted. Use it only in a private network. Default: false.
   */
  allowPlainHttp?: boolean | undefined;
}

/** Options of a single call. They override the options of the client. */
export interface CallOptions {
  /** Ends the call when the signal is aborted, also during a wait between two attempts. The call then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
}

export interface CheckedOptions {
  /** Address of the service without a slash at the end. */
  baseUrl: string;
  timeoutMs: number;
  maxRetries: number;
}

/**
 * Checks the options of a client and fills in the defaults.
 * @throws TypeError if an option is invalid. The message names the option, and never contains a key or a secret
 */
export function checkOptions(options: ClientOptions): CheckedOptions {
  const { baseUrl, apiKey, apiSecret, timeoutMs, maxRetries, allowPlainHttp = false } = options;
  checkHeaderText('apiKey', apiKey);
  checkHeaderText('apiSecret', apiSecret);
  return { baseUrl: checkBaseUrl(baseUrl, allowPlainHttp), ...limitsOf({ timeoutMs, maxRetries }) };
}

/**
 * Returns the time limit and the number of retries of one call. The options of the call override those of the client. The options of the
 * client override the defaults.
 * @throws TypeError if a limit is out of range
 */
export function limitsOf(options: CallOptions, defaults?: CheckedOptions): { timeoutMs: number; maxRetries: number } {
  const timeoutMs = options.timeoutMs ?? defaults?.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const maxRetries = options.maxRetries ?? defaults?.maxRetries ?? DEFAULT_MAX_RETRIES;
  // A timer of Node can wait for at most 2^31 - 1 ms. With a larger value the timer would fire immediately.
  if (!(timeoutMs > 0 && timeoutMs < 2 ** 31)) throw new TypeError('timeoutMs: must be above 0 and below 2^31 ms');
  if (!Number.isInteger(maxRetries) || maxRetries < 0)
    throw new TypeError('maxRetries: must be a whole number from 0 up');
  return { timeoutMs, maxRetries };
}

/**
 * Refuses a key or secret with characters that an HTTP header cannot hold. `fetch` would refuse it too, but the error message of `fetch`
 * contains the whole value.
 */
function checkHeaderText(name: string, value: unknown): void {
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
    throw new TypeError(`${name}: must be the text that the service issued, without spaces or line breaks`);
  }
}

function checkBaseUrl(baseUrl: string, allowPlainHttp: boolean): string {
  if (!URL.canParse(baseUrl)) throw new TypeError('baseUrl: must be a URL such as https://api.example.com');
  const { protocol, hostname, username, password, search, hash, origin, pathname } = new URL(baseUrl);
  if (username + password + search + hash !== '') {
    throw new TypeError('baseUrl: must not contain a user name, a password, a query or a fragment');
  }
  if (protocol !== 'https:' && !(protocol === 'http:' && (allowPlainHttp || isThisMachine(hostname)))) {
    throw new TypeError('baseUrl: must be https, because http sends the secret unencrypted (see allowPlainHttp)');
  }
  return origin + pathname.replace(/\/+$/, '');
}

function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
