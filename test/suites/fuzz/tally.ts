import type { Operation } from './operations.ts';

const COLUMNS = ['2xx', '304', '400', '401', '403', '404', '405', '409', '412', '413', '415', '417', '429', 'other'];

/** Counts responses by operation and status. */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #cases = new Map<string, number>();

  /**
   * Counts one case of an operation.
   * @param statuses the statuses of the responses to the case
   */
  count(operation: string, statuses: number[]): void {
    this.#cases.set(operation, (this.#cases.get(operation) ?? 0) + 1);
    const counts = this.#counts.get(operation) ?? new Map<string, number>();
    this.#counts.set(operation, counts);
    for (const column of statuses.map(columnOf)) {
      counts.set(column, (counts.get(column) ?? 0) + 1);
    }
  }

  get total(): number {
    return [...this.#cases.values()].reduce((sum, count) => sum + count, 0);
  }

  /**
   * Returns the expected statuses that no response of the operation had in this run. So the run has not tested the code that sends such a
   * response.
   */
  unseen({ id, schemes, parameters, body }: Operation): string[] {
    const due = [
      '2xx',
      ...(schemes.length > 0 ? ['401'] : []),
      ...(body !== null || parameters.length > 0 ? ['400'] : []),
      ...(parameters.some((parameter) => parameter.in === 'path') ? ['404'] : []),
      ...(body === null ? [] : ['413', '415']),
    ];
    return due.filter((column) => !this.#counts.get(id)?.has(column));
  }

  /** Returns a table with one line for each operation and one column for each status that occurred. */
  table(): string {
    const columns = COLUMNS.filter((column) => [...this.#counts.values()].some((counts) => counts.has(column)));
    const rows = [...this.#cases].map(([operation, cases]) =>
      row(operation, [
        String(cases),
        ...columns.map((column) => String(this.#counts.get(operation)?.get(column) ?? '·')),
      ]),
    );
    return [row('operation', ['cases', ...columns]), ...rows].join('\n');
  }
}

function columnOf(status: number): string {
  const exact = String(status);
  return status >= 200 && status < 300 ? '2xx' : COLUMNS.includes(exact) ? exact : 'other';
}

function row(name: string, cells: string[]): string {
  return name.padEnd(26) + cells.map((cell) => cell.padStart(6)).join('');
}
