import type { Row } from '../table.ts';
import type { World } from '../world.ts';

/** Something the service is asked to do, measured. */
export interface Operation {
  name: string;
  measure: (world: World) => Promise<Row[]>;
}
