import pg from 'pg';

/** Type parsers for query results. As in the service, dates are returned as text and 8-byte integers as numbers. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) {
      return Number;
    }
    return oid === pg.types.builtins.DATE ? String : pg.types.getTypeParser(oid, format);
  },
};

/** Opens a connection. Ignores later errors of the connection, so that this process does not crash if the database stops. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, types });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Opens a connection, calls `work` with it, and closes it in any case. Returns the result of `work`. */
export async function withConnection<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Opens a pool with a fixed number of connections. Floors (baseline programs without the service) use it. */
export function openPool(url: string, connections: number): pg.Pool {
  return new pg.Pool({ connectionString: url, max: connections, min: connections, idleTimeoutMillis: 0, types });
}
