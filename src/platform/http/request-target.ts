/** Returns the path and query of a request target. A server must also accept a full URL as the target (RFC 9112 §3.2.2). */
export function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/');
}

/** Returns true if the percent-encoding in the path is broken, or if its bytes are not UTF-8. */
export function hasBrokenPath(target: string): boolean {
  const [path] = splitTarget(target);
  if (!path.includes('%')) {
    return false;
  }
  try {
    decodeURIComponent(path);
    return false;
  } catch {
    return true;
  }
}

/**
 * Returns a target for which the router finds the route. Several slashes in a row become one slash, for example if a client joins a base URL
 * with a slash at its end and a path. The router refuses a path with broken percent-encoding, so this function escapes
 * each percent sign of such a path. The checks that come before the check of the path (decision 1) can then run, and refuse the request
 * first.
 */
export function routableTarget(target: string): string {
  const isBroken = hasBrokenPath(target);
  if (!isBroken && !target.includes('//')) {
    return target;
  }
  const [path, rest] = splitTarget(target);
  const routable = path.replaceAll(/\/{2,}/g, '/');
  return (isBroken ? routable.replaceAll('%', '%25') : routable) + rest;
}

/** Splits a target into the path and the rest. The rest begins with the first `?` or `#`. */
export function splitTarget(target: string): [path: string, rest: string] {
  const end = target.search(/[?#]/);
  return end < 0 ? [target, ''] : [target.slice(0, end), target.slice(end)];
}
