/** Returns true if `Accept-Encoding` has `gzip`, `x-gzip` or `*` with a weight above 0 (RFC 9110 §12.5.3). */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) {
    return false;
  }
  const weights = new Map(acceptEncoding.toLowerCase().split(',').map(weigh));
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}

function weigh(coding: string): [string, number] {
  const [name = '', ...parameters] = coding.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return [name, weight === undefined ? 1 : Number(weight) || 0];
}
