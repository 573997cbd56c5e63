/**
 * Breaking changes of the OpenAPI documents that are intended, by the name of the document. Each change is a text exactly as
 * `breakingChanges` returns it. The check compares a document with its version before, so an entry may go with the next change.
 */
export const ACCEPTED: Record<string, string[]> = {
  // Calls of owners, staff and channels have no budget of requests, so they never got the 429 that the documents listed.
  'third-party': unlimited(['credentials', 'credentials~1{id}~1revoke', 'credentials~1{id}~1rotate'], 'third-party'),
  pms: unlimited(
    [
      ...['channels', 'credentials'].flatMap((list) => [list, `${list}~1{id}~1revoke`, `${list}~1{id}~1rotate`]),
      'receiver~1reservations',
    ],
    'channel-manager',
  ),
};

function unlimited(paths: string[], api: string): string[] {
  return paths.map((path) => `#/paths/~1v1~1${api}~1${path}~1/post/responses/429: Response \`429\` was removed.`);
}

export function notAccepted(document: string, breaking: string[]): string[] {
  const accepted = new Set(ACCEPTED[document]);
  return breaking.filter((change) => !accepted.has(change));
}
