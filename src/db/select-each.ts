import { type RawBuilder, sql } from 'kysely';
import type { Database, Tx } from './database.ts';

/** The values of one input as a select names them: parameters, or the columns of a list of inputs. */
type Named<Input> = Record<keyof Input, RawBuilder<unknown>>;

/**
 * One select asked of many inputs in one statement, whose text is the same however many they are. A single input goes plainly, by
 * parameters alone, as a cluster's router wants it.
 * @param types PostgreSQL's type of each value of an input
 * @param select gives exactly one row for an input, as an aggregate does
 * @returns a row for each input, in their order
 */
export async function selectEach<Input extends object, Row>(
  db: Database | Tx,
  types: Record<keyof Input & string, string>,
  inputs: Input[],
  select: (input: Named<Input>) => RawBuilder<Row>,
): Promise<Row[]> {
  const names = Object.keys(types) as (keyof Input & string)[];
  const named = (value: (name: keyof Input & string) => RawBuilder<unknown>) =>
    Object.fromEntries(names.map((name) => [name, value(name)])) as Named<Input>;
  const [only] = inputs;
  if (only !== undefined && inputs.length === 1) {
    const one = select(named((name) => sql`${only[name]}::${sql.raw(types[name])}`));
    return (await one.execute(db)).rows;
  }
  const lists = names.map((name) => sql`${inputs.map((input) => input[name])}::${sql.raw(types[name])}[]`);
  const { rows } = await sql<Row>`
    SELECT answer.* FROM unnest(${sql.join(lists)}) WITH ORDINALITY AS asked (${sql.join(names.map((name) => sql.id(name)))}, place)
    CROSS JOIN LATERAL (${select(named((name) => sql.ref(`asked.${name}`)))}) AS answer ORDER BY asked.place
  `.execute(db);
  return rows;
}
