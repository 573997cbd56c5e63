import { Input, MultiSelect, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMe } from '../../api/session.ts';
import { ChipChoice, ChipToggles } from '../../ui/filters.tsx';
import { DayRange } from '../../ui/days.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { addDays, amountOf, plural } from '../../ui/format.ts';
import { NightTable } from './conflict-dialog.tsx';
import { type Change, datesOf, save, send, valueAt } from './nights.ts';
import type { Row } from './rows.tsx';

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].map((label, index) => ({
  label,
  value: (index + 1) % 7,
}));
const RESTRICTIONS = [
  { value: 'close', label: 'Close' },
  { value: 'open', label: 'Open' },
] as const;

/** Most nights that the service changes in one call, all or none. */
const MOST = 1_000;

interface Bulk {
  /** None: all plans. */
  plans: string[];
  from: string | undefined;
  to: string | undefined;
  /** Days of the week, 0 for Sunday. */
  weekdays: number[];
  /** As it is typed: `120`, `+10%`, or `=` for the base price. Empty: the prices stay. */
  price: string;
  /** Undefined: what is closed stays closed, and what is open stays open. */
  restriction: 'close' | 'open' | undefined;
}

/** What is chosen when the dialog opens. */
export type BulkStart = Pick<Bulk, 'plans' | 'from' | 'to'>;

interface Props {
  property: string;
  rows: Row[];
  start: BulkStart;
  onClose: () => void;
}

/** Changes many nights at once, after a look at what would change. */
export function BulkForm({ property, rows, start, onClose }: Props) {
  const { currency } = useMe().tenant;
  const [bulk, setBulk] = useState<Bulk>({
    ...start,
    weekdays: WEEKDAYS.map(({ value }) => value),
    price: '',
    restriction: undefined,
  });
  const preview = useMutation({ mutationFn: () => previewOf(property, currency, bulk) });
  const set = (change: Partial<Bulk>) => {
    setBulk((present) => ({ ...present, ...change }));
    preview.reset();
  };
  const { plans, from, to, weekdays, price, restriction } = bulk;
  const changed = preview.data ?? [];
  const nights = plural(changed.length, 'night');
  const change = () => {
    save(changed, `${nights} in bulk`);
    onClose();
  };
  return (
    <Form
      action={changed.length > 0 ? `Change ${nights}` : 'Preview'}
      sending={changed.length > 0 ? { ...preview, mutate: change } : preview}
      isReady={Boolean(from && to)}
      onCancel={onClose}
    >
      <Stack>
        <MultiSelect
          label="Plans"
          placeholder={plans.length === 0 ? 'All plans' : ''}
          searchable
          clearable
          hidePickedOptions
          data={rows.flatMap(({ plan, fullName }) => (plan ? { value: plan.id, label: fullName } : []))}
          value={plans}
          onChange={(next) => set({ plans: next })}
        />
        <DayRange label="Nights" from={from} to={to} onChange={set} />
        <Input.Wrapper label="Weekdays" labelElement="div">
          <ChipToggles
            label="Weekdays"
            options={WEEKDAYS}
            values={weekdays}
            onChange={(next) => set({ weekdays: next })}
          />
        </Input.Wrapper>
        <TextField
          label={`Price in ${currency}`}
          description="120 sets it, +10% or -7.5% changes it, = gives the base price of the plan."
          placeholder="Keep prices"
          data-autofocus
          autoComplete="off"
          value={price}
          onChange={(next) => set({ price: next })}
        />
        <Input.Wrapper label="For sale" labelElement="div">
          <ChipChoice
            label="For sale"
            all="Keep as it is"
            options={RESTRICTIONS}
            value={restriction}
            onChange={(next) => set({ restriction: next })}
          />
        </Input.Wrapper>
        <div role="status">
          {preview.data &&
            (changed.length === 0
              ? 'Nothing changes.'
              : `${plural(changed.length, 'night changes', 'nights change')}.`)}
        </div>
        {changed.length > 0 && <NightTable rows={rows} nights={changed} sides={{ Before: 'before', After: 'after' }} />}
      </Stack>
    </Form>
  );
}

/** Returns by a dry run what would change. @throws Refused, Unreachable, Error */
async function previewOf(property: string, currency: string, bulk: Bulk): Promise<Change[]> {
  const { plans, from = '', to = '', weekdays, restriction } = bulk;
  const price = priceRule(bulk.price.trim(), currency);
  const calendar = await call('getCalendar', { query: { property_id: property, from, to: addDays(to, 1) } });
  const nights = [...datesOf(calendar).entries()].filter(([, date]) => weekdays.includes(new Date(date).getUTCDay()));
  const all = calendar.room_types.flatMap((type) => type.rate_plans);
  const chosen = plans.length === 0 ? all : all.filter(({ id }) => plans.includes(id));
  const changes = chosen.flatMap((plan) =>
    nights.map(([index, date]) => {
      const before = valueAt(plan, index);
      const isClosed = restriction === undefined ? before.is_sold_out : restriction === 'close';
      const after = { price: price(before.price, plan.prices[index] ?? ''), is_sold_out: isClosed };
      return { rate_plan_id: plan.id, date, before, after };
    }),
  );
  if (changes.length > MOST)
    throw new Error(`These are ${plural(changes.length, 'night')}. Choose at most ${MOST.toLocaleString()}.`);
  return changes.length === 0 ? [] : await send(changes, true);
}

type PriceRule = (own: string | null, cost: string) => string | null;

function priceRule(text: string, currency: string): PriceRule {
  if (text === '') return (own) => own;
  if (text === '=') return () => null;
  const fixed = amountOf(text);
  if (fixed !== null) return () => fixed;
  const percent = /\d.*%$/.test(text) ? Number(text.slice(0, -1).replace(',', '.')) : Number.NaN;
  if (!(percent > -100)) throw new Error('Type a price such as 120, a change such as +10% or -7.5%, or = alone.');
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  const digits = format.resolvedOptions().maximumFractionDigits;
  return (_, cost) => Number(((Number(cost) * (100 + percent)) / 100).toFixed(digits)).toFixed(2);
}
