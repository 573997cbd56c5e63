import { ensureTemplate, openTestServer } from './database.ts';
import { makeRunFolder, removeRunFolder } from './run-folder.ts';
import { isTestCluster } from './test-cluster.ts';

let server: Awaited<ReturnType<typeof openTestServer>>;

/**
 * Makes the folder of this run, and opens the PostgreSQL of the tests before the first test file, so that PostgreSQL runs until the last
 * test file has ended. Also makes the template database if it is missing, but not on a cluster.
 */
export async function globalSetup(): Promise<void> {
  await makeRunFolder();
  server = await openTestServer();
  if (!(await isTestCluster())) {
    await ensureTemplate(server.url);
  }
}

export async function globalTeardown(): Promise<void> {
  await server.close();
  await removeRunFolder();
}
