/** Matches the statements that run faster if they are prepared. BEGIN and COMMIT, for example, would not become faster. */
const PREPARABLE = /^\s*(?:select|insert|update|delete|with)\b/i;

/** Largest number of statements that a pool prepares. Each one takes about 10 kB of the server's memory on each connection. */
const MAX_PREPARED = 400;
/**
 * Largest number of parameters of a prepared statement. A statement with more parameters contains a list of rows, and has another text for
 * each number of rows. So if it were prepared, it would rarely be used again.
 */
const MAX_PREPARED_PARAMETERS = 64;

export interface PreparedStatement {
  name: string;
  text: string;
}

/** Prepared statements of a pool. Each has the same name on all connections. */
export interface PreparedStatements {
  /** Returns the prepared statement for an SQL text. Returns null if the text must be sent without being prepared, for example a BEGIN. */
  find: (text: string, parameterCount: number) => PreparedStatement | null;
  /**
   * Replaces a prepared statement that fails because its table has changed. The new statement has another name, so that every connection
   * prepares it again. It also has another text, because a pooler such as PgBouncer finds prepared statements by their text. With the old
   * text, the pooler would use the stale statement.
   */
  renew: (text: string, stale: PreparedStatement) => void;
}

export const NO_PREPARED_STATEMENTS: PreparedStatements = { find: () => null, renew: () => {} };

export function createPreparedStatements(): PreparedStatements {
  const statements = new Map<string, PreparedStatement>();
  let names = 0;
  const add = (text: string, uniqueText: string): PreparedStatement => {
    const statement = { name: `roomservice_${names}`, text: uniqueText };
    names += 1;
    statements.set(text, statement);
    return statement;
  };
  return {
    find(text, parameterCount) {
      const known = statements.get(text);
      if (known !== undefined) {
        return known;
      }
      const isPreparable =
        statements.size < MAX_PREPARED && parameterCount <= MAX_PREPARED_PARAMETERS && PREPARABLE.test(text);
      return isPreparable ? add(text, text) : null;
    },
    renew(text, stale) {
      if (statements.get(text) === stale) {
        add(text, `${text} /* ${names} */`);
      }
    },
  };
}
