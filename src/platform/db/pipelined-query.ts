import pg, { type QueryConfig, type QueryResult } from 'pg';

/** Methods of pg's connection, each of which sends one message to the server. The types of pg do not declare them. */
interface Protocol {
  stream: { cork(): void; uncork(): void };
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string }): void;
  execute(message: { portal: string }): void;
  /** Text of each prepared statement whose preparation the server has not confirmed yet, by the name of the statement. */
  submittedNamedStatements: Record<string, string>;
}

/** Methods of pg's query that this file overrides or calls. The types of pg do not declare them. */
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
 * transaction, and if one fails, PostgreSQL skips the statements after it. This is a pipeline of the extended query protocol with one Sync
 * message (PostgreSQL documentation, "Pipelining"). The results of the earlier statements are discarded.
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
      // When PostgreSQL reports that a statement is parsed, pg marks the name of its current query as prepared. But the parsed statement
      // may be one of the earlier statements. So this query has no name until all earlier statements have ended.
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
 * @throws the error of the first statement that fails. After this error, a transaction is open only if the first earlier statement was a
 * BEGIN.
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
