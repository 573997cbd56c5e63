import type { Row } from '../table.ts';
import type { World } from '../world.ts';

/** Operation of the benchmark. `measure` returns its rows of the results table. */
export interface Operation {
  /** Name for the option `--only`. */
  name: string;
  measure: (world: World) => Promise<Row[]>;
}
