/** Returns true if `Accept-Encoding` has `gzip`, `x-gzip` or `*` with a weight above 0 (RFC 9110 §12.5.3). */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const weights = weightsOf(acceptEncoding);
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}

/**
 * Returns true if `Accept` has `text/html` or `text/*` with a weight above 0 (RFC 9110 §12.5.1). A range for all types does not count,
 * because programs send it too.
 */
export function acceptsHtml(accept: string | undefined): boolean {
  const weights = weightsOf(accept);
  return (weights.get('text/html') ?? weights.get('text/*') ?? 0) > 0;
}

function weightsOf(header = ''): Map<string, number> {
  return new Map(header.toLowerCase().split(',').map(weigh));
}

function weigh(choice: string): [string, number] {
  const [name = '', ...parameters] = choice.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return [name, weight === undefined ? 1 : Number(weight) || 0];
}
