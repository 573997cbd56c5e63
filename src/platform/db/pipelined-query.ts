import pg, { type QueryConfig, type QueryResult } from 'pg';

/** Methods of pg's connection, each of which sends one message to the server. The types of pg do not declare them. */
interface Protocol {
  stream: { cork(): void; uncork(): void };
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string }): void;
  execute(message: { portal: string }): void;
  /**
   * Texts of the statements that pg has sent to be prepared, by the name of the statement. pg removes a text from this list when the server
   * reports that it has prepared the statement.
   */
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
 * Statement that is sent to the server in one message with the statements that must run before it, for example a BEGIN. All of these
 * statements run in one transaction. If one of them fails, PostgreSQL skips the statements after it. This class returns only the result of
 * the last statement, and drops the results of all statements before it. In the protocol, this is a pipeline with one Sync message
 * (PostgreSQL documentation, "Pipelining").
 */
class PipelinedQuery extends Query {
  readonly #earlier: readonly string[];
  readonly #preparedName: string | undefined;
  /** Number of earlier statements whose end the server has not reported yet. */
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
    connection.stream.cork(); // Without `cork`, each protocol message would be a separate write to the socket.
    try {
      for (const text of this.#earlier) {
        connection.parse({ name: '', text });
        connection.bind({ statement: '' });
        connection.execute({ portal: '' });
      }
      return super.submit(connection);
    } finally {
      connection.stream.uncork();
      // When the server reports that it has parsed a statement, pg marks the name of its current query as prepared. The current query is
      // this object, but the first reports are about the earlier statements. So the object has no name until all earlier statements have
      // ended. Otherwise pg would mark its name before the server has prepared its statement.
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
      // An earlier statement failed, so the server has not prepared this statement. pg lists each statement that it has sent to be
      // prepared. The statement is removed from this list, so that pg sends it again at its next use.
      delete connection.submittedNamedStatements[this.#preparedName];
    }
    super.handleError(error, connection);
  }
}

/**
 * Sends a statement and the earlier statements in one message. The server runs the earlier statements first. They have no parameters.
 * @throws the error of the first statement that fails. After this error, a transaction is open only if the list `earlier` begins with a
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
