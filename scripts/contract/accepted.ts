/**
 * Breaking changes of the OpenAPI documents that are intended, by the name of the document. Each change is a text exactly as
 * `breakingChanges` returns it. The check compares a document with its version before, so an entry may go with the next change.
 */
export const ACCEPTED: Record<string, string[]> = {
  // The lists of channels and of PMS credentials are for people, and short lists of people have no pages.
  pms: ['channels', 'credentials'].flatMap((list) => {
    const read = `#/paths/~1v1~1channel-manager~1${list}~1/get`;
    return [
      `${read}/parameters: All parameters were removed.`,
      `${read}/responses/200/content/application~1json/schema/anyOf: \`anyOf\` was removed.`,
      `${read}/responses/404: Response \`404\` was removed.`,
    ];
  }),
};

export function notAccepted(document: string, breaking: string[]): string[] {
  const accepted = new Set(ACCEPTED[document]);
  return breaking.filter((change) => !accepted.has(change));
}
