import { ensureTemplate, openTestServer } from './database.ts';

let server: Awaited<ReturnType<typeof openTestServer>>;

/** Keeps the PostgreSQL of the tests running from the first test file to the last. */
export async function globalSetup(): Promise<void> {
  server = await openTestServer();
  await ensureTemplate(server.url);
}

export async function globalTeardown(): Promise<void> {
  await server.close();
}
