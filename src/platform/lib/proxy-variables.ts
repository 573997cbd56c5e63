import { isLoopback } from './loopback.ts';
import { InvalidValueError } from './setting-values.ts';

/** Node prefers a name in small letters. */
const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];

/** Returns the variables of a proxy, or none if only the server is on this machine. @throws InvalidValueError without a valid URL */
export function proxyVariables(serverUrl: string, environment: Readonly<Record<string, string | undefined>>) {
  const { hostname, protocol } = new URL(serverUrl);
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const text = environment[name.toLowerCase()] || environment[name] || '';
  const proxy = URL.parse(text);
  if (text !== '' && proxy?.protocol !== 'http:' && proxy?.protocol !== 'https:') {
    throw new InvalidValueError(`${name} must be the URL of a proxy, such as http://proxy.example:3128`);
  }
  if (proxy === null || (isLoopback(hostname) && !isLoopback(proxy.hostname))) {
    return {};
  }
  return Object.fromEntries(NAMES.flatMap((each) => (environment[each] ? [[each, environment[each]]] : [])));
}
