/** Makes the OpenAPI documents from the routes of the app, their schemas, and the refusals of their guards. */
import { randomBytes } from 'node:crypto';
import type { RouteOptions } from 'fastify';
import { pino } from 'pino';
import { createApp } from '#service/app.ts';
import { readConfig } from '#platform/config.ts';
import { createDatabase } from '#platform/db/database.ts';
import { createMemoryBudgets } from '#platform/http/rate-limit.ts';
import { Keyring } from '#platform/keys/keys.ts';
import { answersOf } from './answers.ts';
import { Components } from './components.ts';
import { DOCUMENTS, type DocumentFacts, securitySchemes, TAGS } from './document-facts.ts';
import { eventsOf } from './events.ts';
import { HEADERS } from './headers.ts';
import { type Operation, operationOf } from './operations.ts';
import { bodyOf, parametersOf } from './requests.ts';

/** Brand that the documents show in the names of the signature headers, such as `X-Service-Signature` (rule 35). */
const HEADER_BRAND = 'Service';

/**
 * Builds the OpenAPI 3.1 documents from the schemas with which the service validates requests. Needs no database and opens no connection.
 * @returns the documents, keyed by name
 */
export async function buildOpenApiDocuments(): Promise<Record<string, object>> {
  const operations = (await readRoutes()).filter(({ method }) => method !== 'HEAD').map(operationOf);
  return Object.fromEntries(
    Object.entries(DOCUMENTS).map(([name, facts]) => {
      const own = operations.filter(({ path }) => facts.prefixes.some((prefix) => path.startsWith(prefix)));
      return [
        name,
        documentOf(
          facts,
          own.sort((a, b) => (a.path < b.path ? -1 : 1)),
        ),
      ];
    }),
  );
}

/** Returns every route of the app. Creates an app only for this purpose. The app never listens on a port. */
export async function readRoutes(): Promise<RouteOptions[]> {
  const routes: RouteOptions[] = [];
  const db = createDatabase({ url: 'postgres://127.0.0.1/none', poolSize: 1 });
  const app = await createApp(
    {
      config: { ...readConfig({}), webhookHeaderBrand: HEADER_BRAND },
      db,
      backgroundDb: db,
      keyring: new Keyring(randomBytes(32)),
      budgets: createMemoryBudgets(),
      log: pino({ level: 'silent' }),
      wake: null,
    },
    async (server) => void server.addHook('onRoute', (route) => void routes.push(route)),
  );
  await app.close();
  await db.destroy();
  return routes;
}

function documentOf(facts: DocumentFacts, operations: Operation[]): object {
  const components = new Components();
  const paths = Object.groupBy(operations, ({ path }) => path);
  const shown = Object.entries(paths).map(([path, own = []]) => [
    path,
    Object.fromEntries(own.map((operation) => [operation.method, operationObject(operation, components)])),
  ]);
  const webhooks = facts.hasEvents ? eventsOf(components, HEADER_BRAND) : {};
  return {
    openapi: '3.1.0',
    info: {
      title: facts.title,
      version: facts.version,
      description: facts.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that serves this document.' }],
    tags: tagsOf(facts, operations),
    paths: Object.fromEntries(shown),
    ...(facts.hasEvents && { webhooks }),
    components: {
      schemas: components.byName(),
      headers: used(HEADERS, { shown, webhooks }),
      securitySchemes: schemesOf(operations),
    },
  };
}

function operationObject(operation: Operation, components: Components): object {
  const { id, summary, description, tags, body, exampleSummaries } = operation;
  const parameters = parametersOf(operation, components);
  return {
    operationId: id,
    tags,
    summary,
    ...(description !== '' && { description }),
    security: operation.securities.map((schemes) => Object.fromEntries(schemes.map((scheme) => [scheme, []]))),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== null && { requestBody: bodyOf(body, exampleSummaries, components) }),
    responses: answersOf(operation, components),
  };
}

function tagsOf({ hasEvents }: DocumentFacts, operations: Operation[]): object[] {
  const names = new Set([...operations.flatMap(({ tags }) => tags), ...(hasEvents ? ['Events'] : [])]);
  const unknown = [...names].find((name) => !(name in TAGS));
  if (unknown !== undefined) {
    throw new Error(`The tag "${unknown}" has no description. Add one to TAGS in scripts/openapi/document-facts.ts.`);
  }
  return Object.entries(TAGS)
    .filter(([name]) => names.has(name))
    .map(([name, description]) => ({ name, description }));
}

function schemesOf(operations: Operation[]): object {
  const names = new Set<string>(operations.flatMap(({ securities }) => securities.flat()));
  return Object.fromEntries(Object.entries(securitySchemes(HEADER_BRAND)).filter(([name]) => names.has(name)));
}

function used(headers: typeof HEADERS, document: object): object {
  const text = JSON.stringify(document);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => text.includes(`"#/components/headers/${name}"`)),
  );
}
