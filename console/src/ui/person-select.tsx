import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { read } from '../api/reads.ts';

interface Props {
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}

/** Filter by person, display or partner, for owners. */
export function PersonSelect({ value, onChange }: Props) {
  const { data: people = [] } = useQuery(read('listPeople', {}, ['people']));
  const { data: displays = [] } = useQuery(read('listDisplays', {}, ['people']));
  const { data: partners = [] } = useQuery(read('listStaffCredentials', {}, ['credentials']));
  const groups = [
    { group: 'People', items: people.map(({ id, name, email }) => ({ value: id, label: name ?? email })) },
    { group: 'Displays', items: displays.map(({ id, label }) => ({ value: id, label })) },
    { group: 'Partners', items: partners.map(({ id, label }) => ({ value: id, label: label || 'No name' })) },
  ];
  return (
    <Select
      aria-label="Person"
      placeholder="Everybody"
      clearable
      searchable
      w={180}
      value={value ?? null}
      data={groups.filter(({ items }) => items.length > 0)}
      onChange={(id) => onChange(id ?? undefined)}
    />
  );
}
