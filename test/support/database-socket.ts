import { connect, type Socket } from 'node:net';

/** Connects to the PostgreSQL server of a URL. The host in the URL is the name of a machine, or the folder of a Unix socket. */
export function connectToDatabase(url: string): Socket {
  const { hostname, port } = new URL(url);
  const host = decodeURIComponent(hostname);
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port || '5432'}`) : connect(Number(port || '5432'), host);
}
