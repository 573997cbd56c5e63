/** A browser names others too, so the first that is found counts: Edge before Chrome, Chrome before Safari. */
const BROWSERS = {
  Edge: /Edg(?:e|A|iOS)?\//,
  Opera: /OPR\//,
  'Samsung Internet': /SamsungBrowser\//,
  Firefox: /(?:Firefox|FxiOS)\//,
  Chrome: /(?:Chrome|CriOS)\//,
  Safari: /Safari\//,
};
const SYSTEMS = {
  iPhone: /iPhone/,
  iPad: /iPad/,
  Android: /Android/,
  ChromeOS: /CrOS/,
  Windows: /Windows/,
  Mac: /Macintosh/,
  Linux: /Linux/,
};

/** Browser and system of a header `User-Agent` in words: `Firefox on Windows`. */
export function deviceOf(userAgent: string): string {
  const nameOf = (kinds: Record<string, RegExp>) => Object.keys(kinds).find((name) => kinds[name]?.test(userAgent));
  const words = [nameOf(BROWSERS), nameOf(SYSTEMS)].filter((word) => word !== undefined);
  return words.join(' on ') || 'An unknown device';
}
