/** RFC 9112 §3.2.2: a server takes the absolute form of a request target as well. */
export function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/');
}

/** Whether the percent-encoding of the target's path is broken, or stands for bytes that are not UTF-8. */
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
 * The target as the router can take it: a broken path counts letter by letter. So the request finds its route, and the
 * checks that come before the path's (decision 1) answer first.
 */
export function routableTarget(target: string): string {
  if (!hasBrokenPath(target)) {
    return target;
  }
  const [path, rest] = splitTarget(target);
  return path.replaceAll('%', '%25') + rest;
}

/** The path, and the query with its question mark. */
export function splitTarget(target: string): [path: string, rest: string] {
  const end = target.search(/[?#]/);
  return end < 0 ? [target, ''] : [target.slice(0, end), target.slice(end)];
}
