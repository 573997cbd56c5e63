import { Group, Input, Modal, MultiSelect, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useMe } from '../../api/session.ts';
import { ChipChoice, ChipToggles } from '../../ui/chips.tsx';
import { DayRange } from '../../ui/day-range.tsx';
import { Form } from '../../ui/form.tsx';
import { plural } from '../../ui/format.ts';
import { type BulkForm, previewOf } from './bulk-changes.ts';
import { NightTable } from './conflict-dialog.tsx';
import type { Row } from './rows.tsx';
import { save } from './writes.ts';

interface Props {
  property: string;
  rows: Row[];
  /** Plans and nights that are chosen at first. Null: the dialog is closed. */
  start: Pick<BulkForm, 'plans' | 'from' | 'to'> | null;
  onClose: () => void;
}

/** Changes many nights at once, after a look at what would change. */
export function BulkDialog({ start, onClose, ...rest }: Props) {
  return (
    <Modal opened={start !== null} onClose={onClose} size="lg" title="Change many nights">
      {start && <Bulk start={start} onClose={onClose} {...rest} />}
    </Modal>
  );
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].map((label, index) => ({
  label,
  value: (index + 1) % 7,
}));
const PRICES = [
  { value: 'amount', label: 'Set to' },
  { value: 'percent', label: 'Change by %' },
  { value: 'base', label: 'Base price' },
] as const;
const RESTRICTIONS = [
  { value: 'close', label: 'Close' },
  { value: 'open', label: 'Open' },
] as const;

function Bulk({ property, rows, start, onClose }: Props & { start: NonNullable<Props['start']> }) {
  const { currency } = useMe().tenant;
  const [form, setForm] = useState<BulkForm>({
    ...start,
    weekdays: WEEKDAYS.map(({ value }) => value),
    price: undefined,
    amount: '',
    restriction: undefined,
  });
  const preview = useMutation({ mutationFn: () => previewOf(property, currency, form) });
  const set = (change: Partial<BulkForm>) => {
    setForm({ ...form, ...change });
    preview.reset();
  };
  const put =
    <Key extends keyof BulkForm>(key: Key) =>
    (value: BulkForm[Key]) =>
      set({ [key]: value });
  const { plans, from, to, weekdays, price, amount, restriction } = form;
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
          onChange={put('plans')}
        />
        <Group>
          <DayRange label="Nights" from={from} to={to} onChange={set} />
          <Input.Wrapper label="Weekdays" labelElement="div">
            <ChipToggles label="Weekdays" options={WEEKDAYS} values={weekdays} onChange={put('weekdays')} />
          </Input.Wrapper>
        </Group>
        <Input.Wrapper label="Price" labelElement="div">
          <ChipChoice label="Price" all="Keep prices" options={PRICES} value={price} onChange={put('price')} />
        </Input.Wrapper>
        {(price === 'amount' || price === 'percent') && (
          <TextInput
            label={price === 'amount' ? `Price in ${currency}` : 'Percent, for example 10 or -7.5'}
            inputMode="decimal"
            autoComplete="off"
            data-autofocus
            value={amount}
            onChange={(event) => set({ amount: event.currentTarget.value })}
          />
        )}
        <Input.Wrapper label="For sale" labelElement="div">
          <ChipChoice
            label="For sale"
            all="Keep as it is"
            options={RESTRICTIONS}
            value={restriction}
            onChange={put('restriction')}
          />
        </Input.Wrapper>
        <div role="status">
          {preview.data &&
            (changed.length === 0
              ? 'Nothing changes.'
              : `${plural(changed.length, 'night changes', 'nights change')}.`)}
        </div>
        {changed.length > 0 && (
          <NightTable rows={rows} nights={changed} sides={{ Before: 'expected', After: 'after' }} />
        )}
      </Stack>
    </Form>
  );
}
