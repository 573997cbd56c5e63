import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { read } from '../../api/reads.ts';
import { isOwner, useMe } from '../../api/session.ts';
import { ChipChoice, SetChip } from '../../ui/chips.tsx';
import { SearchIcon } from '../../ui/icons.tsx';
import classes from './list.module.css';
import { openOrdersQuery } from './open-orders.ts';
import type { OrdersSearch } from './search.ts';
import { partnerOf, STATUS, TYPES } from './statuses.ts';

interface Props {
  search: OrdersSearch;
  change: (patch: Partial<OrdersSearch>) => void;
}

const STATUSES = Object.entries(STATUS).map(([value, { label }]) => ({ value, label }));

/** What a person may know of an order, and the word for it. */
const TEXTS = { name: 'Name', phone: 'Phone', external: "Partner's id" } as const;
type TextName = keyof typeof TEXTS;

/** All filters of the API's list of orders. */
export function ListFilters({ search, change }: Props) {
  const names = Object.keys(TEXTS) as TextName[];
  return (
    <div className={classes.filters}>
      <div className={classes.row}>
        <TextSearch change={change} />
        <PartnerChoice search={search} change={change} />
        <Choice
          label="Type"
          all="Any type"
          options={Object.entries(TYPES)}
          value={search.type}
          onChange={(type) => change({ type })}
        />
        <div className={classes.dates}>
          <label className={classes.label}>
            <span>From</span>
            <input
              className={classes.field}
              type="date"
              value={search.from ?? ''}
              max={search.to}
              onChange={(event) => change({ from: event.currentTarget.value || undefined })}
            />
          </label>
          <label className={classes.label}>
            <span>to</span>
            <input
              className={classes.field}
              type="date"
              value={search.to ?? ''}
              min={search.from}
              onChange={(event) => change({ to: event.currentTarget.value || undefined })}
            />
          </label>
        </div>
        {names.map((name) => {
          const value = search[name];
          if (value === undefined) return null;
          return (
            <SetChip key={name} label={`${TEXTS[name]}: ${value}`} onRemove={() => change({ [name]: undefined })} />
          );
        })}
      </div>
      <ChipChoice
        label="Status"
        options={STATUSES}
        value={STATUSES.find(({ value }) => value === search.status)?.value}
        onChange={(status) => change({ status })}
      />
    </div>
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
      <select
        className={classes.field}
        aria-label="Search by"
        value={kind}
        onChange={(event) => setKind(event.currentTarget.value as TextName)}
      >
        {Object.entries(TEXTS).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
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

/** An owner chooses among all partners, others among those whose orders are open, because the API tells them no more. */
function PartnerChoice({ search, change }: Props) {
  const me = useMe();
  const { data: credentials } = useQuery({
    ...read('listStaffCredentials', {}, ['credentials']),
    enabled: isOwner(me),
  });
  const { data: open } = useQuery(openOrdersQuery);
  const partners = new Map(open?.results.map((order) => [order.credential_id, partnerOf(order)]));
  for (const { id, label } of credentials ?? []) {
    partners.set(id, label === '' ? `Partner ${id.slice(-4)}` : label);
  }
  const chosen = search.partner ?? '';
  if (chosen !== '' && !partners.has(chosen)) partners.set(chosen, `Partner ${chosen.slice(-4)}`);
  return (
    <Choice
      label="Partner"
      all="All partners"
      options={[...partners]}
      value={chosen}
      onChange={(partner) => change({ partner })}
    />
  );
}

interface ChoiceProps {
  label: string;
  /** Word for no filter. */
  all: string;
  options: [value: string, label: string][];
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

function Choice({ label, all, options, value, onChange }: ChoiceProps) {
  return (
    <select
      className={classes.field}
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    >
      <option value="">{all}</option>
      {options.map(([id, text]) => (
        <option key={id} value={id}>
          {text}
        </option>
      ))}
    </select>
  );
}
