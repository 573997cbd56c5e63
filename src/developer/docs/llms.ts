import { DOCUMENTS, documentPath } from './api-documents.ts';
import { type Guide, guideSourcePath } from './guides.ts';

/** What is here to read for a language model, in the form of llmstxt.org. */
export function llmsText(guides: Guide[]): string {
  return `# Roomservice

> One dependable way for outside platforms into a restaurant's kitchen and a hotel's rooms: orders and reservations that are placed once however often they are sent, and signed webhooks that arrive.

The documents below are OpenAPI 3.1; every path in them is relative to the address this file came from. The same as pages for people: [the reference](/docs/), [the guides](/docs/guides/).

## Guides

${guides.map(({ name, title, summary }) => entry(title, guideSourcePath(name), summary)).join('\n')}

## Reference

${DOCUMENTS.map(({ name, title, summary }) => entry(title, documentPath(name), summary)).join('\n')}
`;
}

function entry(title: string, address: string, summary: string): string {
  return `- [${title}](${address}): ${summary}`;
}
