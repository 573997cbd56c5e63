import type { Answer } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';

export type Person = Answer<'listPeople'>[number];

export const peopleQuery = read('listPeople', {}, ['people']);

/** Reads people and displays again. Resolves when they are on the screen. */
export async function rereadPeople(): Promise<void> {
  await queryClient.invalidateQueries({
    predicate: ({ queryKey: [name] }) => /^list(?:People|Displays)$/.test(String(name)),
  });
}

export function nameOf({ name, email }: Pick<Person, 'name' | 'email'>): string {
  return name ?? email;
}
