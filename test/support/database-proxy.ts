import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { connectToDatabase } from './database-socket.ts';
import { freePort } from './free-port.ts';
import { testLayout } from './test-cluster.ts';

/** A proxy between the service and a database. It can cut the connections while the database itself keeps running. */
export interface DatabaseProxy {
  db: Database;
  url: string;
  /** Cuts every connection and refuses new ones. */
  refuse(): Promise<void>;
  /** Keeps connections open and accepts new ones, but forwards no bytes. All bytes that arrive are discarded. */
  swallow(): void;
  /**
   * Ends the effect of `refuse` or `swallow`. Cuts all connections, then accepts new connections and forwards their bytes. The bytes that
   * were discarded after `swallow` stay lost.
   */
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function startDatabaseProxy(url: string, poolSize: number): Promise<DatabaseProxy> {
  const sockets = new Set<Socket>();
  let isOpen = true;
  const server = createServer((client) => {
    const database = connectToDatabase(url);
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('data', (bytes: Buffer) => isOpen && to.write(bytes));
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const cut = () => sockets.forEach((socket) => socket.destroy());
  // The operating system gives this port to no other program while the proxy refuses connections. So `restore` can listen on it again.
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${port}`;
  const db = createDatabase({ url: proxied.href, poolSize, layout: await testLayout() });
  return {
    db,
    url: proxied.href,
    async refuse() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
    swallow() {
      isOpen = false;
    },
    async restore() {
      cut();
      isOpen = true;
      if (!server.listening) {
        server.listen(port, '127.0.0.1');
        await once(server, 'listening');
      }
    },
    async close() {
      cut();
      server.close();
      await db.destroy();
    },
  };
}
