const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_RETRIES = 3;

export interface ClientOptions {
  /** Where the service is: https, or http on this very machine. */
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  /** For each attempt, from connecting to the answer's last byte; 30,000 where left out. */
  timeoutMs?: number | undefined;
  /** How many times a call that failed for a passing reason is sent again; 3 where left out. */
  maxRetries?: number | undefined;
  /** Lets key and secret travel in the clear to another machine: for a private network alone. */
  allowPlainHttp?: boolean | undefined;
}

/** What may differ from call to call. */
export interface CallOptions {
  /** Gives the call up, waits between its attempts included: it then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
}

export interface CheckedOptions {
  /** Without a slash at its end. */
  baseUrl: string;
  timeoutMs: number;
  maxRetries: number;
}

/** @throws TypeError naming the option that is wrong, never the value of a secret */
export function checkOptions(options: ClientOptions): CheckedOptions {
  const { baseUrl, apiKey, apiSecret, timeoutMs, maxRetries, allowPlainHttp = false } = options;
  checkHeaderText('apiKey', apiKey);
  checkHeaderText('apiSecret', apiSecret);
  return { baseUrl: checkBaseUrl(baseUrl, allowPlainHttp), ...limitsOf({ timeoutMs, maxRetries }) };
}

/** The limits of one call: its own where it has some, else the client's, else the usual ones. */
export function limitsOf(options: CallOptions, defaults?: CheckedOptions): { timeoutMs: number; maxRetries: number } {
  const timeoutMs = options.timeoutMs ?? defaults?.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const maxRetries = options.maxRetries ?? defaults?.maxRetries ?? DEFAULT_MAX_RETRIES;
  // Node's timers end at 2^31 - 1 ms; beyond that they fire at once.
  if (!(timeoutMs > 0 && timeoutMs < 2 ** 31)) throw new TypeError('timeoutMs: must be above 0 and below 2^31');
  if (!Number.isInteger(maxRetries) || maxRetries < 0) throw new TypeError('maxRetries: must be 0 or a whole number');
  return { timeoutMs, maxRetries };
}

/** `fetch` refuses other characters with a message that holds the whole value. */
function checkHeaderText(name: string, value: unknown): void {
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
    throw new TypeError(`${name}: must be given, exactly as it was issued`);
  }
}

function checkBaseUrl(baseUrl: string, allowPlainHttp: boolean): string {
  if (!URL.canParse(baseUrl)) throw new TypeError('baseUrl: must be a URL such as https://api.example.com');
  const { protocol, hostname, username, password, search, hash, origin, pathname } = new URL(baseUrl);
  if (username + password + search + hash !== '') {
    throw new TypeError('baseUrl: must be without user name, query and fragment');
  }
  if (protocol !== 'https:' && !(protocol === 'http:' && (allowPlainHttp || isThisMachine(hostname)))) {
    throw new TypeError('baseUrl: must be https, or the secret would travel in the clear (see allowPlainHttp)');
  }
  return origin + pathname.replace(/\/+$/, '');
}

function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
