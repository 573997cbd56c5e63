import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createDatabase, type Database } from '#platform/db/database.ts';

/** A proxy between the service and a database. It can cut the connections while the database itself keeps running. */
export interface DatabaseProxy {
  db: Database;
  /** Cuts every connection and refuses new ones. */
  refuse(): Promise<void>;
  /** Keeps connections open and accepts new ones, but forwards no bytes. All bytes that arrive are discarded. */
  swallow(): void;
  /**
   * Cuts the old connections. From now on, accepts new connections and forwards their bytes. Discarded bytes stay lost.
   */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a proxy to a PostgreSQL that listens on a Unix socket.
 * @param url the URL of that PostgreSQL
 */
export async function startDatabaseProxy(url: string, poolSize: number): Promise<DatabaseProxy> {
  const socketPath = `${decodeURIComponent(new URL(url).hostname)}/.s.PGSQL.5432`;
  const sockets = new Set<Socket>();
  let isOpen = true;
  const server = createServer((client) => {
    const database = connect(socketPath);
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${port}`;
  const db = createDatabase({ url: proxied.href, poolSize });
  return {
    db,
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
