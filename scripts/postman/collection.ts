import { type Document, type Endpoint, endpointsOf } from './openapi-types.ts';
import { requestOf } from './requests.ts';
import { LEFT_OUT, type Step, STORY } from './story.ts';

/** Fixed id, so that a second import into Postman replaces the first collection. */
const COLLECTION_ID = '6f0f2c0e-5b0c-4c53-9d0e-6a4c3c1f7a10';

const DESCRIPTION = `
Every operation for partners and property management systems, in an order that runs from top to bottom: read the menu, place an
order, repeat it, cancel it; the same with a stay; then the hotel as a PMS sees it.

Choose the environment that comes with the collection, and fill in the values that you have:

- \`ownerEmail\` and \`ownerPassword\`: the run signs in and makes the missing credentials;
- or \`apiKey\` and \`apiSecret\`, \`pmsApiKey\` and \`pmsApiSecret\`, which you have from the owner;
- \`webhookUrl\`, if the run should register your webhook, which replaces the previous one.

A request is skipped if its variables are empty. A run leaves a cancelled order, a cancelled stay and the credentials that it made.
It writes only the prices and restrictions that it has read before. Run it in the sandbox, not against a working kitchen.
`;

/**
 * Returns the collection in Postman's format 2.1.
 * @throws Error if an operation for partners or PMSs is neither in the list of calls (`STORY`) nor in the list of operations that the
 * collection leaves out (`LEFT_OUT`), or if it is in both lists
 */
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
      if (document === undefined)
        throw new Error(`There is no OpenAPI document "${name}". Correct scripts/postman/story.ts.`);
      if (name !== 'staff') assertCovered(document, steps);
      return folderOf(document, steps);
    }),
  };
}

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
  if (endpoint === undefined)
    throw new Error(`The document has no operation ${operation}. Correct scripts/postman/story.ts.`);
  return endpoint;
}

function assertCovered(document: Document, steps: Step[]): void {
  const called = new Set(steps.map(({ operation }) => operation));
  for (const { operation } of endpointsOf(document)) {
    const id = operation.operationId;
    if (called.has(id) === id in LEFT_OUT) {
      throw new Error(`The operation ${id} must be in either STORY or LEFT_OUT of scripts/postman/story.ts.`);
    }
  }
}
