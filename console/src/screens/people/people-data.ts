import type { Answer } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';

export type Person = Answer<'listPeople'>[number];

export const peopleQuery = read('listPeople', {}, ['people']);
export const displaysQuery = read('listDisplays', {}, ['people']);

/** Reads people and displays again. Resolves when they are on the screen. */
export async function rereadPeople(): Promise<void> {
  const names = ['listPeople', 'listDisplays'];
  await Promise.all(names.map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
}

export function nameOf({ name, email }: Pick<Person, 'name' | 'email'>): string {
  return name ?? email;
}
