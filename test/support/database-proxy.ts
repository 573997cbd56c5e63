import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { freePort } from './free-port.ts';
import { testLayout } from './test-cluster.ts';

/** Connects to the PostgreSQL server of a URL. The host in the URL is the name of a machine, or the folder of a Unix socket. */
export function connectToDatabase(url: string): Socket {
  const { hostname, port } = new URL(url);
  const host = decodeURIComponent(hostname);
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port || '5432'}`) : connect(Number(port || '5432'), host);
}

/** A proxy between the service and a database. It can cut the connections while the database itself keeps running. */
export interface DatabaseProxy {
  db: Database;
  url: string;
  /** Cuts every connection and refuses new ones. */
  refuse(): Promise<void>;
  /** Keeps connections open and accepts new ones, but forwards no bytes. All bytes that arrive are discarded. */
  swallow(): void;
  /** Ends the effect of `refuse` or `swallow`, and cuts all connections. Discarded bytes stay lost. */
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
