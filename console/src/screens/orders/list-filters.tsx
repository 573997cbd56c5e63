import { Select, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ChipChoice, SetChip } from '../../ui/chips.tsx';
import { DayRange } from '../../ui/day-range.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { SearchIcon } from '../../ui/icons.tsx';
import { PartnerSelect } from '../../ui/partner-select.tsx';
import classes from './list.module.css';
import type { OrdersSearch } from './search.ts';
import { STATUS, TYPES } from './statuses.ts';

interface Props {
  search: OrdersSearch;
  change: (patch: Partial<OrdersSearch>) => void;
}

const STATUSES = Object.entries(STATUS).map(([value, { label }]) => ({ value, label }));
const TYPE_OPTIONS = Object.entries(TYPES).map(([value, label]) => ({ value, label }));

/** What a person may know of an order, and the word for it. */
const TEXTS = { name: 'Name', phone: 'Phone', external: "Partner's id" } as const;
type TextName = keyof typeof TEXTS;

/** All filters of the API's list of orders. */
export function ListFilters({ search, change }: Props) {
  return (
    <>
      <ChipChoice
        label="Status"
        options={STATUSES}
        value={STATUSES.find(({ value }) => value === search.status)?.value}
        onChange={(status) => change({ status })}
      />
      <TextSearch change={change} />
      <FilterSelect
        label="Type"
        all="Any type"
        width={140}
        value={search.type}
        options={TYPE_OPTIONS}
        onChange={(type) => change({ type })}
      />
      <PartnerSelect value={search.partner} onChange={(partner) => change({ partner })} />
      <DayRange from={search.from} to={search.to} onChange={change} />
      {(Object.keys(TEXTS) as TextName[]).map(
        (name) =>
          search[name] !== undefined && (
            <SetChip
              key={name}
              label={`${TEXTS[name]}: ${search[name]}`}
              onRemove={() => change({ [name]: undefined })}
            />
          ),
      )}
    </>
  );
}

function TextSearch({ change }: Pick<Props, 'change'>) {
  const [kind, setKind] = useState<TextName>('name');
  const [text, setText] = useState('');
  const search = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== '') change({ [kind]: text.trim() });
    setText('');
  };
  return (
    <form className={classes.search} role="search" onSubmit={search}>
      <Select
        aria-label="Search by"
        w={130}
        allowDeselect={false}
        value={kind}
        data={Object.entries(TEXTS).map(([value, label]) => ({ value: value as TextName, label }))}
        onChange={(value) => setKind(value ?? 'name')}
      />
      <TextInput
        aria-label={`Search by ${TEXTS[kind].toLowerCase()}`}
        placeholder={kind === 'external' ? 'The whole id' : kind === 'phone' ? 'The whole number' : 'Begins with'}
        leftSection={<SearchIcon size={15} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}
