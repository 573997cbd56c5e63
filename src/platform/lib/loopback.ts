/** An IPv6 address may be in brackets, as in a URL. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host);
}
