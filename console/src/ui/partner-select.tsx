import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { read } from '../api/reads.ts';
import { isOwner, useMe } from '../api/session.ts';

interface Props {
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}

/** Filter by partner. Only owners may list the partners, so for others it is not there. */
export function PartnerSelect({ value, onChange }: Props) {
  const mayList = isOwner(useMe());
  const { data = [] } = useQuery({ ...read('listStaffCredentials', {}, ['credentials']), enabled: mayList });
  if (!mayList) return null;
  return (
    <Select
      aria-label="Partner"
      placeholder="All partners"
      clearable
      searchable
      w={180}
      value={value ?? null}
      data={data.map(({ id, label }) => ({ value: id, label: label || 'No name' }))}
      onChange={(id) => onChange(id ?? undefined)}
    />
  );
}
