import { parseArgs } from 'node:util';

/** How much is stored before anything is measured. */
export interface Sizes {
  tenants: number;
  credentialsPerTenant: number;
  roomTypes: number;
  /** Rows of `restaurant_order` in the lean database, and in the stocked one. */
  fewOrders: number;
  manyOrders: number;
  /** Orders of the one credential whose list is read. */
  listedOrders: number;
  pastStays: number;
  backlog: number;
}

export interface Options {
  isFull: boolean;
  sizes: Sizes;
  /** Beginnings of the names of operations; empty: all. */
  only: string[];
  /** Of one slice, subject's or floor's. */
  seconds: number;
  rounds: number;
  /** Where the table is written to; null: into the temporary folder. */
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

export const USAGE = `usage: npm run bench -- [--only NAME]... [--seconds N] [--rounds N] [--full] [--out FILE]
  --only NAME   operations whose names begin with NAME alone
  --seconds N   of each slice, 2 unless told otherwise
  --rounds N    subject and floor alternate so often, 3 unless told otherwise
  --full        the large sizes; their seed is made once and kept
  --out FILE    where the table is written to`;

/** @throws Error where an option is unknown or out of range */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '3' },
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
    out: values.out ?? null,
  };
}

function numberWithin(name: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (!(number >= min && number <= max)) {
    throw new Error(`${name} must be a number from ${min} to ${max}, not ${text}`);
  }
  return number;
}
