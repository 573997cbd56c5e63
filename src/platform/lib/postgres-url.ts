/** Returns true if the text is a URL of a PostgreSQL database. */
export function isPostgresUrl(text: string): boolean {
  return ['postgres:', 'postgresql:'].includes(URL.parse(text)?.protocol ?? '');
}
