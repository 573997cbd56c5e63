import pg, { type QueryConfig, type QueryResult } from 'pg';

/** The methods of pg's connection that send one message each. They are not in the types of pg. */
interface Protocol {
  stream: { cork(): void; uncork(): void };
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string }): void;
  execute(message: { portal: string }): void;
  /** Texts of the prepared statements whose preparation is not confirmed yet, by name. */
  submittedNamedStatements: Record<string, string>;
}

/** The methods of pg's query that this file overrides or calls. They are not in the types of pg. */
interface PgQuery {
  name: string | undefined;
  submit(connection: Protocol): Error | null;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Protocol): void;
  handleError(error: Error, connection: Protocol): void;
}

const Query = pg.Query as unknown as new (
  config: QueryConfig & { queryMode: 'extended' },
  callback: (error: Error | null, result: QueryResult) => void,
) => PgQuery;

/**
 * Statement that is sent in one message together with the statements that must run before it, for example a BEGIN. All of them run in one
 * transaction, and if one fails, PostgreSQL skips the others. This is a pipeline of the extended query protocol with one Sync message (PostgreSQL
 * documentation, "Pipelining"). The results of the earlier statements are discarded.
 */
class PipelinedQuery extends Query {
  readonly #earlier: readonly string[];
  readonly #preparedName: string | undefined;
  /** Number of earlier statements that have not ended. */
  #waitsFor: number;

  constructor(
    earlier: readonly string[],
    config: QueryConfig,
    callback: (error: Error | null, result: QueryResult) => void,
  ) {
    super({ ...config, queryMode: 'extended' }, callback);
    this.#earlier = earlier;
    this.#preparedName = config.name;
    this.#waitsFor = earlier.length;
  }

  override submit(connection: Protocol): Error | null {
    connection.stream.cork(); // Otherwise each message would be one write to the socket.
    try {
      for (const text of this.#earlier) {
        connection.parse({ name: '', text });
        connection.bind({ statement: '' });
        connection.execute({ portal: '' });
      }
      return super.submit(connection);
    } finally {
      connection.stream.uncork();
      // When PostgreSQL has parsed a statement, pg marks the name of its current query as prepared. In a pipeline, the parsed statement may be an
      // earlier one. So pg does not see the name of this query until the earlier statements have ended.
      this.name = undefined;
    }
  }

  override handleDataRow(message: unknown): void {
    if (this.#waitsFor === 0) {
      super.handleDataRow(message);
    }
  }

  override handleCommandComplete(message: unknown, connection: Protocol): void {
    if (this.#waitsFor === 0) {
      super.handleCommandComplete(message, connection);
      return;
    }
    this.#waitsFor -= 1;
    if (this.#waitsFor === 0) {
      this.name = this.#preparedName;
    }
  }

  override handleError(error: Error, connection: Protocol): void {
    if (this.#waitsFor > 0 && this.#preparedName !== undefined) {
      delete connection.submittedNamedStatements[this.#preparedName]; // PostgreSQL has skipped the preparation.
    }
    super.handleError(error, connection);
  }
}

/**
 * Runs a statement after the earlier statements, in one message to the server. The earlier statements have no parameters.
 * @throws the error of the first statement that fails. If the first earlier statement was no BEGIN, no transaction is open then.
 */
export function runPipelined(
  client: pg.ClientBase,
  earlier: readonly string[],
  config: QueryConfig,
): Promise<QueryResult> {
  return new Promise((resolve, reject) => {
    const query = new PipelinedQuery(earlier, config, (error, result) => (error ? reject(error) : resolve(result)));
    client.query(query as unknown as pg.Submittable);
  });
}
