import { openTestServer, shareTestServer } from './database.ts';
import { makeRunFolder, removeRunFolder } from './run-folder.ts';

let server: Awaited<ReturnType<typeof openTestServer>>;

/**
 * Prepares the run before the first test file. Makes the folder for the temporary files of the run, opens the PostgreSQL of the tests, and
 * makes the template database. The PostgreSQL runs until the last test file has ended.
 */
export async function globalSetup(): Promise<void> {
  await makeRunFolder();
  server = await openTestServer();
  shareTestServer(server);
}

export async function globalTeardown(): Promise<void> {
  await server.close();
  await removeRunFolder();
}
