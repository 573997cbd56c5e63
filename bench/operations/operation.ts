import type { CostRow } from '../cost-table.ts';
import type { ProcessRow } from '../process-table.ts';
import type { QueueRow } from '../queue-table.ts';
import type { Row } from '../table.ts';
import type { World } from '../world.ts';

/** Operation of the benchmark. `measure` measures it and returns its rows of the results tables. */
export interface Operation {
  /** Name by which the option `--only` selects the operation. */
  name: string;
  /** True if the operation runs only if the option `--only` selects it, because it installs a large program. */
  isOnlyOnRequest?: boolean;
  measure: (world: World) => Promise<(Row | QueueRow | ProcessRow | CostRow)[]>;
}
