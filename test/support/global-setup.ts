import { openTestServer, shareTestServer } from './database.ts';
import { makeRunFolder, removeRunFolder } from './run-folder.ts';

let server: Awaited<ReturnType<typeof openTestServer>>;

export async function globalSetup(): Promise<void> {
  await makeRunFolder();
  server = await openTestServer();
  shareTestServer(server);
}

export async function globalTeardown(): Promise<void> {
  await server.close();
  await removeRunFolder();
}
