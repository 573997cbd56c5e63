import { randomBytes } from 'node:crypto';
import fastifySwagger from '@fastify/swagger';
import { pino } from 'pino';
import { createApp } from './app.ts';
import { createDatabase } from './db/database.ts';
import { createMemoryBudgets } from './http/rate-limit.ts';

interface Document {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, unknown>;
  components?: unknown;
}

const header = (name: string) => ({ type: 'apiKey', in: 'header', name }) as const;

/** The documents by file name, and which paths belong to each. */
const DOCUMENTS = {
  'third-party': { title: 'Roomservice: third-party integration', version: '1.0.0', prefixes: ['/v1/third-party/'] },
  pms: { title: 'Roomservice: PMS integration', version: '1.0.0', prefixes: ['/v1/channel-manager/'] },
  staff: { title: 'Roomservice: owner and staff', version: '1.0.0', prefixes: ['/v1/staff/', '/v1/auth/'] },
};

/** The OpenAPI 3.1 documents, made from the schemas that validate the requests. Needs no database and opens no connection. */
export async function buildOpenApiDocuments(): Promise<Record<string, object>> {
  const db = createDatabase({ url: 'postgres://127.0.0.1/none', poolSize: 1 });
  const app = await createApp(
    {
      config: {
        publicUrl: null,
        rateLimitPerMinute: 300,
        trustedProxies: [],
        identityProvider: null,
        webhookAllowPrivateNetwork: false,
        webhookHeaderBrand: 'Service',
      },
      db,
      backgroundDb: db,
      batchSize: 1,
      keyring: {
        pepper: randomBytes(32),
        token: randomBytes(32),
        encrypt: async () => Buffer.alloc(0),
        decrypt: async () => '',
      },
      budgets: createMemoryBudgets(),
      log: pino({ level: 'silent' }),
      deliveries: null,
    },
    async (server) => {
      await server.register(fastifySwagger, {
        openapi: {
          openapi: '3.1.0',
          info: { title: 'Roomservice', version: '1.0.0' },
          components: {
            securitySchemes: {
              apiKey: header('X-API-Key'),
              apiSecret: header('X-API-Secret'),
              pmsApiKey: header('X-PMS-API-Key'),
              pmsApiSecret: header('X-PMS-API-Secret'),
              bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
            },
          },
        },
      });
    },
  );
  await app.ready();
  const whole = app.swagger() as unknown as Document;
  await app.close();
  await db.destroy();
  return Object.fromEntries(
    Object.entries(DOCUMENTS).map(([name, { title, version, prefixes }]) => [
      name,
      { ...whole, info: { title, version }, paths: pathsUnder(whole.paths, prefixes) },
    ]),
  );
}

function pathsUnder(paths: Record<string, unknown>, prefixes: string[]): Record<string, unknown> {
  const own = Object.entries(paths).filter(([path]) => prefixes.some((prefix) => path.startsWith(prefix)));
  return Object.fromEntries(own.sort(([a], [b]) => (a < b ? -1 : 1)));
}
