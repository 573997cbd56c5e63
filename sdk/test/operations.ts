type Routes = Record<string, { method: string; path: string }>;

/**
 * Returns the ids of the operations that the requests called, sorted and without repetitions. Each request has the form `METHOD
 * /path?query`.
 */
export function operationsCalled(routes: Routes, requests: Iterable<string>): string[] {
  const found = [...requests].map((request) => {
    const [method = '', target = ''] = request.split(' ');
    const path = target.split('?')[0] ?? '';
    return Object.keys(routes).find(
      (name) => routes[name]?.method === method && patternOf(routes[name].path).test(path),
    );
  });
  return [...new Set(found.filter((name) => name !== undefined))].sort();
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
