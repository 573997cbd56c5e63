import pg from 'pg';

/** Dates as text and counts as numbers, as the service reads them. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) {
      return Number;
    }
    return oid === pg.types.builtins.DATE ? String : pg.types.getTypeParser(oid, format);
  },
};

/** A connection that does not end the process where the database goes away. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, types });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** A connection for as long as the work takes. */
export async function withConnection<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The connections of a floor: as many as the service gives its API. */
export function openPool(url: string, connections: number): pg.Pool {
  return new pg.Pool({ connectionString: url, max: connections, min: connections, idleTimeoutMillis: 0, types });
}
