/** Returns the path and query of a request target. A server must also accept a target in absolute form (RFC 9112 §3.2.2). */
export function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/');
}

/** Returns true if the percent-encoding of the target's path is broken or stands for bytes that are not UTF-8. */
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
 * Returns the target in a form that the router accepts. In a broken path, each percent sign counts as a plain character. So the
 * request finds its route, and the checks that come before the check of the path (decision 1) respond first.
 */
export function routableTarget(target: string): string {
  if (!hasBrokenPath(target)) {
    return target;
  }
  const [path, rest] = splitTarget(target);
  return path.replaceAll('%', '%25') + rest;
}

/** Splits a target into the path, and the rest from the first `?` or `#` on. */
export function splitTarget(target: string): [path: string, rest: string] {
  const end = target.search(/[?#]/);
  return end < 0 ? [target, ''] : [target.slice(0, end), target.slice(end)];
}
