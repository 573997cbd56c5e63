import { type Document, type Endpoint, endpointsOf } from './openapi-types.ts';
import { requestOf } from './requests.ts';
import { LEFT_OUT, type Step, STORY } from './story.ts';

/** Whoever imports the collection again replaces the one that is there. */
const COLLECTION_ID = '6f0f2c0e-5b0c-4c53-9d0e-6a4c3c1f7a10';

const DESCRIPTION = `
Every operation for partners and property management systems, in an order that runs from top to bottom: read the menu, place an
order, repeat it, cancel it; the same with a stay; then the hotel as a PMS sees it.

Choose the environment that comes along, and fill in what you have:

- \`ownerEmail\` and \`ownerPassword\`: the run signs in and makes the credentials that are missing;
- or \`apiKey\` and \`apiSecret\`, \`pmsApiKey\` and \`pmsApiSecret\`, as the owner gave them to you;
- \`webhookUrl\`, if your webhook is to be registered: it takes the place of the one before.

A request whose variables are empty is skipped. A run leaves behind a cancelled order and a cancelled stay, and whatever it made of
credentials; the prices and restrictions that it writes are those that it has read. Run it in the sandbox, not in a kitchen at work.
`;

/** The collection, in Postman's format 2.1. Throws where a partner's operation is neither in the story nor left out of it. */
export function collectionOf(documents: Record<string, Document>): object {
  return {
    info: {
      _postman_id: COLLECTION_ID,
      name: 'Roomservice',
      description: DESCRIPTION.trim(),
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    item: Object.entries(STORY).map(([name, steps]) => {
      const document = documents[name];
      if (document === undefined) throw new Error(`there is no document "${name}"`);
      if (name !== 'staff') assertCovered(document, steps);
      return folderOf(document, steps);
    }),
  };
}

/** A document's folder, with one for each tag in it. */
function folderOf(document: Document, steps: Step[]): object {
  const endpoints = new Map(endpointsOf(document).map((endpoint) => [endpoint.operation.operationId, endpoint]));
  const calls = steps.map((step) => ({ step, endpoint: endpointOf(endpoints, step) }));
  const byTag = Map.groupBy(calls, ({ endpoint }) => endpoint.operation.tags[0] ?? '');
  return {
    name: document.info.title,
    description: document.info.description ?? '',
    item: [...byTag].map(([tag, tagged]) => ({
      name: tag,
      description: document.tags?.find(({ name }) => name === tag)?.description ?? '',
      item: tagged.map(({ endpoint, step }) => requestOf(endpoint, step)),
    })),
  };
}

function endpointOf(endpoints: Map<string, Endpoint>, { operation }: Step): Endpoint {
  const endpoint = endpoints.get(operation);
  if (endpoint === undefined) throw new Error(`no document has the operation ${operation} of scripts/postman/story.ts`);
  return endpoint;
}

function assertCovered(document: Document, steps: Step[]): void {
  const called = new Set(steps.map(({ operation }) => operation));
  for (const { operation } of endpointsOf(document)) {
    const id = operation.operationId;
    if (called.has(id) === id in LEFT_OUT) {
      throw new Error(`${id} must be either a step of the story or left out of it: scripts/postman/story.ts`);
    }
  }
}
