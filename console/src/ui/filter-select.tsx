import { Select, type SelectProps } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useHouse } from '../api/house.ts';
import { read } from '../api/reads.ts';
import { isOwner, useMe } from '../api/session.ts';

interface Props<Value extends string> {
  label: string;
  all: string;
  width: number;
  value: Value | undefined;
  options: NonNullable<SelectProps<Value>['data']>;
  isSearchable?: boolean;
  onChange: (value: Value | undefined) => void;
}

/** A filter with more values than chips have room for. */
export function FilterSelect<Value extends string>(props: Props<Value>) {
  const { label, all, width, value, options, isSearchable = false, onChange } = props;
  return (
    <Select<Value>
      aria-label={label}
      placeholder={all}
      clearable
      searchable={isSearchable}
      w={width}
      value={value ?? null}
      data={options}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}

interface IdProps {
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}

/** Filter by property. `all`: words for none. With one property alone, it is not there. */
export function PropertySelect(props: IdProps & { all: string }) {
  const { properties = [] } = useHouse();
  const options = properties.map(({ id, name }) => ({ value: id, label: name }));
  return options.length > 1 && <FilterSelect label="Property" width={190} options={options} {...props} />;
}

const partnersQuery = read('listStaffCredentials', {}, ['credentials']);

/** Filter by partner. Only owners may list the partners, so for others it is not there. */
export function PartnerSelect(props: IdProps) {
  const mayList = isOwner(useMe());
  const { data = [] } = useQuery({ ...partnersQuery, enabled: mayList });
  const options = data.map(({ id, label }) => ({ value: id, label: label || 'No name' }));
  return (
    mayList && <FilterSelect label="Partner" all="All partners" width={180} isSearchable options={options} {...props} />
  );
}

/** Filter by person, display or partner, for owners. */
export function PersonSelect(props: IdProps) {
  const { data: people = [] } = useQuery(read('listPeople', {}, ['people']));
  const { data: displays = [] } = useQuery(read('listDisplays', {}, ['people']));
  const { data: partners = [] } = useQuery(partnersQuery);
  const groups = [
    { group: 'People', items: people.map(({ id, name, email }) => ({ value: id, label: name ?? email })) },
    { group: 'Displays', items: displays.map(({ id, label }) => ({ value: id, label })) },
    { group: 'Partners', items: partners.map(({ id, label }) => ({ value: id, label: label || 'No name' })) },
  ];
  const options = groups.filter(({ items }) => items.length > 0);
  return <FilterSelect label="Person" all="Everybody" width={180} isSearchable options={options} {...props} />;
}
