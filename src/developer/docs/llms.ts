import { DOCUMENTS, documentPath } from './api-documents.ts';
import { type Guide, guideSourcePath } from './guides.ts';

/** Returns the text of `llms.txt` in the format of llmstxt.org. The file lists all guides and OpenAPI documents for language models. */
export function llmsText(guides: Guide[]): string {
  return `# Roomservice

> Connects outside platforms to a restaurant's kitchen and a hotel's rooms. An order or a reservation is placed once, no matter how often it is sent. Signed webhooks report every change.

The documents below are in OpenAPI 3.1. Every path in them is relative to the address that this file was read from. The same texts as pages for people are at [the reference](/docs/) and [the guides](/docs/guides/).

## Guides

${guides.map(({ name, title, summary }) => entry(title, guideSourcePath(name), summary)).join('\n')}

## Reference

${DOCUMENTS.map(({ name, title, summary }) => entry(title, documentPath(name), summary)).join('\n')}
`;
}

function entry(title: string, address: string, summary: string): string {
  return `- [${title}](${address}): ${summary}`;
}
