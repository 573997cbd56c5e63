import { type Operations, ROUTES } from './types.ts';

export type OperationName = keyof Operations;
export type Answer<Name extends OperationName> = Operations[Name]['answer'];
export type Input<Name extends OperationName> = Omit<Operations[Name], 'answer'>;

/** Fields of the API that the screens call otherwise. */
const NAMES: Record<string, string> = {
  email: 'E-mail',
  label: 'Name',
  min_nights: 'Shortest stay',
  physical_capacity: 'Rooms',
  source: 'Name',
  to: 'The last day',
  webhook_url: 'Address',
};

/** Names faulty fields as the screens do: `dishes.3.price: must be 1 | email: is required` → `Price (dishes 4) must be 1. E-mail is required.` */
function inWords(message: string): string {
  const sentences = message.split(' | ').map((fault) => {
    const [, path = '', text] = /^([\w.]+): (.*)$/s.exec(fault) ?? [];
    const steps = path.replace(/\.(\d+)/g, (_, index) => ` ${Number(index) + 1}`).split('.');
    const field = steps.pop() ?? '';
    const name = NAMES[field] ?? `${field[0]?.toUpperCase()}${field.slice(1).replaceAll('_', ' ')}`;
    return text === undefined
      ? fault
      : `${name}${steps.length > 0 ? ` (${steps.join(', ')})` : ''} ${text.replace('`from`', 'the first')}.`;
  });
  return sentences.join(' ');
}

/** The service has refused a call. `message` is its own sentence, which says what to do. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds after which the service asks to try again, or null. */
  readonly retryAfter: number | null;
  readonly requestId: string | null;

  constructor(response: Response, body: { code?: string; message?: string } | null) {
    const { code, message = `The service answered ${response.status}.` } = body ?? {};
    super(code === 'invalid_request' ? inWords(message) : message);
    this.status = response.status;
    this.code = body?.code ?? 'error';
    const wait = response.headers.get('retry-after');
    this.retryAfter = wait === null ? null : Number(wait);
    this.requestId = response.headers.get('x-request-id');
  }
}

/** After this time without an answer, the service counts as away. A tablet that leaves the network sees no error for minutes. */
const HUNG_MS = 20_000;

/** No answer came, or one of a proxy whose service is away. The call may have arrived. */
export class Unreachable extends Error {
  constructor() {
    super('Roomservice cannot be reached.');
  }
}

export interface CallOptions {
  signal?: AbortSignal;
  headers?: Record<string, string>;
  /** A 401 is thrown at once, because nobody has signed in yet or the password itself was wrong. */
  isSigningIn?: boolean;
  /** The browser sends the call also if the page closes meanwhile. */
  keepalive?: boolean;
}

/**
 * Returns the time in milliseconds to wait before something is tried again: what the service has asked for, or longer after each failure,
 * and not the same for all who wait.
 */
export function waitMs(failures: number, longestMs: number, error?: unknown): number {
  if (error instanceof Refused && error.retryAfter !== null) return error.retryAfter * 1_000;
  return Math.min(longestMs, 300 * 2 ** failures) * (0.5 + Math.random() / 2);
}

let askPassword = (): Promise<void> => Promise.reject(new Error('Nobody asks for the password.'));

/** Sets what happens at a 401 in mid-work: the function asks for the password, and the call is sent again when it resolves. */
export function onSignedOut(ask: typeof askPassword): void {
  askPassword = ask;
}

/** Calls an operation of the API with the session cookie. @throws Refused, Unreachable */
export async function call<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options: CallOptions = {},
): Promise<Answer<Name>> {
  const response = await send(name, input, options);
  return (response.status === 204 ? null : await response.json()) as Answer<Name>;
}

/** Calls an operation as `call` does, and returns the response whose body has not been read. @throws Refused, Unreachable */
export async function send<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options: CallOptions = {},
): Promise<Response> {
  const { path = {}, query = {}, body } = input as { path?: Values; query?: Values; body?: unknown };
  const request: RequestInit = {
    method: ROUTES[name].method,
    headers: {
      'x-roomservice-console': '1',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    },
    body: JSON.stringify(body),
    keepalive: options.keepalive,
  };
  for (;;) {
    const hung = new AbortController();
    const timer = setTimeout(() => hung.abort(), HUNG_MS);
    const signal = AbortSignal.any([hung.signal, ...(options.signal ? [options.signal] : [])]);
    const response = await fetch(addressOf(name, path, query), { ...request, signal })
      .catch((error: unknown) => {
        throw options.signal?.aborted ? error : new Unreachable();
      })
      .finally(() => clearTimeout(timer));
    if (response.ok) {
      return response;
    }
    const answer = (await response.json().catch(() => null)) as { code?: string; message?: string } | null;
    if (answer === null && response.status >= 502) {
      throw new Unreachable();
    }
    if (response.status !== 401 || options.isSigningIn) {
      throw new Refused(response, answer);
    }
    await askPassword();
  }
}

type Values = Record<string, string | number | boolean | undefined>;

/** Returns the address of an operation. Filters that are undefined or empty are left out. */
function addressOf(name: OperationName, path: Values, query: Values): string {
  const filled = ROUTES[name].path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(path[key])));
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return text === '' ? filled : `${filled}?${text}`;
}

/** Returns a new id (UUID version 4) of a write that may be sent twice. Over plain HTTP, browsers have no `crypto.randomUUID`. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-a$4-$5');
}
