import { connect, type Socket } from 'node:net';

/** Connects to the PostgreSQL of a URL, whose host is the folder of a Unix socket, or the name of a machine. */
export function connectToDatabase(url: string): Socket {
  const { hostname, port } = new URL(url);
  const host = decodeURIComponent(hostname);
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port || '5432'}`) : connect(Number(port || '5432'), host);
}
