import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { Certificate } from './certificate.ts';
import { connectToDatabase } from './database-socket.ts';

/** TLS entrance to a PostgreSQL server that has no TLS of its own. */
interface TlsDatabase {
  /** Returns the URL of the database through the entrance. @param query query of the URL, for example `sslmode=require` */
  urlWith: (query: string, host?: string) => string;
  close: () => void;
}

/**
 * Starts a TLS entrance to a PostgreSQL server, on a free port of this machine. It answers the SSLRequest of the protocol, as PostgreSQL
 * with `ssl = on` does.
 * @param url URL of the server
 * @param certificate certificate of the entrance
 * @param clientCa certificate that a client must have. By default, a client needs no certificate.
 */
export async function startTlsDatabase(url: string, certificate: Certificate, clientCa?: string): Promise<TlsDatabase> {
  const sockets = new Set<Socket>();
  const secureContext = createSecureContext({ ...certificate, ...(clientCa === undefined ? {} : { ca: clientCa }) });
  const isAsked = clientCa !== undefined;
  const server = createServer((client) => {
    sockets.add(client.on('error', () => {}));
    client.once('data', () => {
      client.write('S');
      const tls = new TLSSocket(client, {
        isServer: true,
        secureContext,
        requestCert: isAsked,
        rejectUnauthorized: isAsked,
      });
      const database = connectToDatabase(url);
      sockets.add(database);
      tls.on('error', () => database.destroy()).on('close', () => database.destroy());
      database.on('error', () => tls.destroy()).on('close', () => tls.destroy());
      tls.pipe(database).pipe(tls);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlWith(query, host = 'localhost') {
      const through = new URL(url);
      through.host = `${host}:${port}`;
      through.search = query;
      return through.href;
    },
    close() {
      sockets.forEach((socket) => socket.destroy());
      server.close();
    },
  };
}
