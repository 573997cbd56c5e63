import { parseArgs } from 'node:util';

/** Amounts of data that are stored before the measurements. */
export interface Sizes {
  tenants: number;
  credentialsPerTenant: number;
  roomTypes: number;
  /** Number of orders in the lean database (the one with little data). */
  fewOrders: number;
  /** Number of orders that the stocked database (the one with much data) has in addition to the `fewOrders`. */
  manyOrders: number;
  /** Number of orders that are stored for one credential. The operations that measure lists read the list of these orders. */
  listedOrders: number;
  pastStays: number;
  backlog: number;
}

export interface Options {
  isFull: boolean;
  sizes: Sizes;
  /**
   * Prefixes of operation names. An operation runs only if its name begins with one of these prefixes. If the list is empty, all operations
   * run.
   */
  only: string[];
  /** Length of one slice in seconds. A slice is one measurement of the service or of its floor. */
  seconds: number;
  /** Number of slices (measurements) of the service. The floor, with which the service is compared, has the same number of slices. */
  rounds: number;
  /** Number of events in each measured backlog of the operations that compare queues (`queues-…`). */
  queuedEvents: number;
  /**
   * Path of the file to which the results table is written. If null, the file is `roomservice-bench.md` in the temporary folder of the
   * operating system.
   */
  out: string | null;
}

const DEFAULT_SIZES: Sizes = {
  tenants: 500,
  credentialsPerTenant: 4,
  roomTypes: 8,
  fewOrders: 10_000,
  manyOrders: 300_000,
  listedOrders: 100_000,
  pastStays: 100_000,
  backlog: 10_000,
};

const FULL_SIZES: Sizes = {
  tenants: 500,
  credentialsPerTenant: 4,
  roomTypes: 40,
  fewOrders: 10_000,
  manyOrders: 10_000_000,
  listedOrders: 1_000_000,
  pastStays: 500_000,
  backlog: 200_000,
};

export const USAGE = `usage: npm run bench -- [--only NAME]... [--seconds N] [--rounds N] [--events N] [--full] [--out FILE]
  --only NAME   run only the operations whose names begin with NAME
  --seconds N   length of each slice in seconds (default: 2)
  --rounds N    number of measured slices of the service and of its floor, in turns (default: 3)
  --events N    number of events in each backlog of the operations queues-… (default: 10000)
  --full        use the large sizes. Their data is made once and kept for later runs
  --out FILE    write the table to FILE (default: a file in the temporary folder)`;

/**
 * Reads the options of the command line.
 * @throws Error if an option is unknown or out of range
 */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '3' },
      events: { type: 'string', default: '10000' },
      full: { type: 'boolean', default: false },
      out: { type: 'string' },
    },
  });
  return {
    isFull: values.full,
    sizes: values.full ? FULL_SIZES : DEFAULT_SIZES,
    only: values.only,
    seconds: numberWithin('--seconds', values.seconds, 0.5, 600),
    rounds: numberWithin('--rounds', values.rounds, 1, 100),
    queuedEvents: Math.round(numberWithin('--events', values.events, 1_000, 200_000)),
    out: values.out ?? null,
  };
}

function numberWithin(name: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (!(number >= min && number <= max)) {
    throw new Error(`${name} must be a number from ${min} to ${max}, not ${text}.`);
  }
  return number;
}
