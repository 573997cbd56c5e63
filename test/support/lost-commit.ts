import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { connectToDatabase } from './database-proxy.ts';
import { testLayout } from './test-cluster.ts';

/** A proxy to a database. It can lose the response to a COMMIT, so that the client does not learn that it has committed. */
export interface CommitProxy {
  db: Database;
  /**
   * When the next COMMIT comes, cuts the connection of the client, so that the client gets no response. By default, the cut comes after the
   * database has committed. If `passOnAfterMs` is given, the cut comes first, and the COMMIT reaches the database after this time.
   */
  dropNextCommitResponse(passOnAfterMs?: number): void;
  /** Number of responses to a COMMIT that were lost until now. */
  readonly lostCount: number;
  close(): Promise<void>;
}

/** The word must not be a part of `committed`, which is in the settings of each new session and in each BEGIN. */
const COMMIT = /commit(?!ted)/i;

/** Starts a proxy to a PostgreSQL server. @param url the URL of this server */
export async function startCommitProxy(url: string): Promise<CommitProxy> {
  const sockets = new Set<Socket>();
  let isArmed = false;
  let delayMs = 0;
  let lostCount = 0;
  const server = createServer((client) => {
    const database = connectToDatabase(url);
    let isLosing = false;
    client.on('data', (bytes: Buffer) => {
      if (isArmed && COMMIT.test(bytes.toString('latin1'))) {
        isArmed = false;
        isLosing = true;
        if (delayMs > 0) {
          client.destroy();
          setTimeout(() => database.write(bytes), delayMs);
          return;
        }
      }
      database.write(bytes);
    });
    database.on('data', (bytes: Buffer) => {
      if (isLosing) {
        lostCount += 1;
        client.destroy();
        database.destroy();
      } else {
        client.write(bytes);
      }
    });
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        if (!isLosing) {
          other.destroy();
        }
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const db = createDatabase({ url: proxied.href, poolSize: 4, layout: await testLayout() });
  return {
    db,
    dropNextCommitResponse(passOnAfterMs = 0) {
      isArmed = true;
      delayMs = passOnAfterMs;
    },
    get lostCount() {
      return lostCount;
    },
    async close() {
      await db.destroy();
      sockets.forEach((socket) => socket.destroy());
      server.close();
    },
  };
}
