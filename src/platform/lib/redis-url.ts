/** Host name or IP address, and port of a server. */
export interface HostAndPort {
  host: string;
  port: number;
}

/** User name and password. A part is missing if the URL does not have it. */
export interface Login {
  username?: string;
  password?: string;
}

/** Parts of a REDIS_URL. The URL leads to one server, to a Redis Cluster, or to Sentinels that know the primary. */
export type RedisAddress =
  | { mode: 'server'; url: string }
  | { mode: 'cluster'; hosts: HostAndPort[]; login: Login; isEncrypted: boolean }
  | {
      mode: 'sentinel';
      /** Addresses of the Sentinels. */
      hosts: HostAndPort[];
      /** Name under which the Sentinels know the primary. */
      primaryName: string;
      database: number;
      login: Login;
      /** Login at the Sentinels. The Sentinels do not use the login of the Redis servers (`login`). */
      sentinelLogin: Login;
      isEncrypted: boolean;
    };

const DEFAULT_PORT = 6379;
const DEFAULT_SENTINEL_PORT = 26_379;

/** Pattern of the URL of a cluster or of Sentinels. Each part of the URL is a named group. */
const MANY_HOSTS =
  /^(?<protocol>rediss?)\+(?<mode>cluster|sentinel):\/\/(?:(?<login>[^@/?#\s]*)@)?(?<hosts>[^@/?#\s]+)(?<path>\/[^?#\s]*)?(?:\?(?<query>[^#\s]*))?$/;

/**
 * Parses a REDIS_URL. These are its forms, each also with `rediss` for TLS:
 *
 * - `redis://[user:password@]host[:port][/database]`
 * - `redis+cluster://[user:password@]host[:port][,host[:port]…]`
 * - `redis+sentinel://[user:password@]host[:port][,host[:port]…]/primary-name[/database][?sentinel_username=…&sentinel_password=…]`
 *
 * @returns null if the URL has another form
 */
export function parseRedisUrl(value: string): RedisAddress | null {
  try {
    return /^rediss?:/.test(value) ? parseServer(value) : parseManyHosts(value);
  } catch {
    return null; // The user name or the password has a percent sign that does not begin an encoded character.
  }
}

function parseServer(value: string): RedisAddress | null {
  const url = URL.parse(value);
  if (url === null || !/^[^,]+$/.test(url.hostname) || !/^\/?\d*$/.test(url.pathname)) {
    return null;
  }
  decodeURIComponent(`${url.username} ${url.password}`);
  return { mode: 'server', url: value };
}

function parseManyHosts(value: string): RedisAddress | null {
  const groups = MANY_HOSTS.exec(value)?.groups;
  if (groups === undefined) {
    return null;
  }
  const isCluster = groups['mode'] === 'cluster';
  const hosts = (groups['hosts'] ?? '')
    .split(',')
    .map((host) => parseHost(host, isCluster ? DEFAULT_PORT : DEFAULT_SENTINEL_PORT));
  const login = parseLogin(groups['login'] ?? '');
  const path = (groups['path'] ?? '').slice(1);
  const query = new URLSearchParams(groups['query']);
  if (!hosts.every((host) => host !== null)) {
    return null;
  }
  const isEncrypted = groups['protocol'] === 'rediss';
  if (isCluster) {
    // A cluster has only database 0.
    return /^0?$/.test(path) && query.size === 0 ? { mode: 'cluster', hosts, login, isEncrypted } : null;
  }
  const [primaryName = '', database = '0', ...more] = path.split('/').map(decodeURIComponent);
  const sentinelLogin = toLogin(query.get('sentinel_username') ?? '', query.get('sentinel_password') ?? '');
  const isKnown = [...query.keys()].every((name) => name === 'sentinel_username' || name === 'sentinel_password');
  if (primaryName === '' || !/^\d+$/.test(database) || more.length > 0 || !isKnown) {
    return null;
  }
  return { mode: 'sentinel', hosts, primaryName, database: Number(database), login, sentinelLogin, isEncrypted };
}

function parseHost(text: string, defaultPort: number): HostAndPort | null {
  const url = URL.parse(`redis://${text}`);
  if (url === null || url.hostname === '') {
    return null;
  }
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port || defaultPort) };
}

function parseLogin(text: string): Login {
  const [username = '', ...password] = text.split(':').map(decodeURIComponent);
  return toLogin(username, password.join(':'));
}

function toLogin(username: string, password: string): Login {
  return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) };
}
