import { Box, Checkbox, NativeSelect, NumberInput, SimpleGrid, Text } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { useMutation, useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call, newRequestId } from '../../api/client.ts';
import { type Property, useHouse } from '../../api/house.ts';
import { rereadTopics } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { sendWhenBack } from '../../live/held-write.ts';
import { Form, TextField } from '../../ui/form.tsx';
import { addDays, formatDate } from '../../ui/format.ts';
import { Away } from '../../ui/loaded.tsx';
import { changeStay, keepStay } from './moves.ts';
import { NightPrices, quoteOf, type SoldType } from './quote.tsx';
import type { Stay, StayWithHistory } from './statuses.ts';

interface Props {
  /** The stay that is changed. Left out: a new one. */
  own: Stay | undefined;
  property: string | undefined;
  onCancel: () => void;
  onSaved: (stay: Stay) => void;
}

/** What a stay needs, and what it costs before it is saved. A walk-in needs no more than a name. */
export function StayForm({ own, property, onCancel, onSaved }: Props) {
  const { properties = [], roomTypeOf, todayAt } = useHouse();
  const today = todayAt(property);
  const [requestId] = useState(() => newRequestId());
  const [draft, setDraft] = useState<Draft>(() => draftOf(own, today));
  const change = (part: Partial<Draft>) => setDraft((present) => ({ ...present, overbook: false, ...part }));
  const [checkIn, checkOut] = draft.dates;
  const { sold, refusal, isWaiting } = useSoldTypes(properties, draft.dates);
  const type = roomTypeOf(draft.typeId);
  const soldType = sold.get(draft.typeId);
  const quote = checkIn && type && soldType ? quoteOf(type, soldType, { checkIn, own, ...draft }) : undefined;
  const isMoved = own?.room_type_id !== draft.typeId || own.check_in !== checkIn || own.check_out !== checkOut;
  const problems = quote && (isMoved || draft.guests !== own.guests) ? quote.problems : [];
  const sending = useMutation({
    mutationFn: () => save(own, draft, requestId),
    onSuccess: onSaved,
    onError: () => rereadTopics(new Set(['reservations', 'rates', 'rooms'])),
  });
  const types = properties
    .filter(({ id }) => property === undefined || id === property)
    .flatMap((each) => each.room_types);
  const isKnown = types.every(({ id }) => sold.has(id));
  const firstFree = isKnown ? (types.find(({ id }) => leftOf(sold.get(id)) > 0) ?? types[0])?.id : undefined;
  useEffect(() => {
    // Later changes of what is left do not change the choice under the person's eyes.
    if (draft.typeId === '' && firstFree !== undefined) change({ typeId: firstFree });
  }, [draft.typeId, firstFree]);
  const isReady =
    draft.name.trim() !== '' && draft.guests > 0 && quote !== undefined && (problems.length === 0 || draft.overbook);
  return (
    <Form
      action={draft.overbook && quote?.isFull ? 'Overbook' : own ? 'Save the change' : 'Book'}
      color={draft.overbook ? 'red' : undefined}
      sending={sending}
      isReady={isReady}
      onCancel={onCancel}
    >
      <Fields {...{ draft, own, today, properties, sold, change }} plan={quote?.plan} />
      <Box mih={84} mt="md" px={14} py={10} bg="var(--rs-sunken)" style={{ borderRadius: 8 }} aria-live="polite">
        {quote && (isMoved ? <NightPrices {...quote} /> : <NightPrices nights={null} total={own.total_amount} />)}
        {isWaiting && <Away />}
        {refusal !== undefined && `These nights have no price. ${refusal}`}
        {types.length === 0 && !isWaiting && 'There is no room to book yet.'}
        {problems.map((problem) => (
          <Text key={problem} fz="sm" c="var(--rs-late)">
            {problem}
          </Text>
        ))}
      </Box>
      {problems.length > 0 && (
        <Checkbox
          mt="md"
          checked={draft.overbook}
          label={own ? 'Change it all the same' : 'Book it all the same'}
          description={
            quote?.isFull
              ? 'The house then has more guests than rooms, and somebody has to move.'
              : 'The rule is set aside for this stay alone.'
          }
          onChange={({ currentTarget }) => change({ overbook: currentTarget.checked })}
        />
      )}
    </Form>
  );
}

interface FieldsProps {
  draft: Draft;
  own: Stay | undefined;
  today: string;
  properties: Property[];
  sold: ReadonlyMap<string, SoldType>;
  plan: string | undefined;
  change: (part: Partial<Draft>) => void;
}

function Fields({ draft, own, today, properties, sold, plan, change }: FieldsProps) {
  const text = (name: 'name' | 'phone' | 'email') => ({
    autoComplete: 'off',
    value: draft[name],
    onChange: (value: string) => change({ [name]: value }),
  });
  const types = properties.flatMap((each) => each.room_types);
  const plans = types.find(({ id }) => id === draft.typeId)?.rate_plans ?? [];
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
      <TextField
        {...text('name')}
        label="Name of the guest"
        data-autofocus
        autoFocus
        style={{ gridColumn: '1 / -1' }}
      />
      <TextField {...text('phone')} label="Phone" type="tel" />
      <TextField {...text('email')} label="E-mail" type="email" />
      <DatePickerInput
        type="range"
        label="Arrival and departure"
        valueFormatter={() => draft.dates.map((date) => date && formatDate(date, 'weekday')).join(' – ')}
        minDate={own && own.check_in < today ? own.check_in : addDays(today, -1)}
        value={draft.dates}
        onChange={(dates) => change({ dates })}
      />
      <NativeSelect
        label="Room type"
        value={draft.typeId}
        data={properties.map(({ name, room_types: ofProperty }) => ({
          group: name,
          items: ofProperty.map(({ id, name: label }) => ({
            value: id,
            // What is left is not known before both dates are chosen.
            label: sold.has(id) ? `${label}, ${leftOf(sold.get(id))} left` : label,
          })),
        }))}
        onChange={({ currentTarget }) => change({ typeId: currentTarget.value, planId: '' })}
      />
      <NumberInput
        label="Guests"
        min={1}
        max={100}
        // Empty while it is typed anew.
        value={draft.guests || ''}
        onChange={(guests) => change({ guests: Number(guests) })}
      />
      {own === undefined && (
        <NativeSelect
          label="Rate plan"
          value={draft.planId}
          data={[
            { value: '', label: draft.planId === '' && plan ? `Cheapest: ${plan}` : 'Cheapest' },
            ...plans.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={({ currentTarget }) => change({ planId: currentTarget.value })}
        />
      )}
    </SimpleGrid>
  );
}

type Draft = ReturnType<typeof draftOf>;

function draftOf(own: Stay | undefined, today: string) {
  const { check_in = today, check_out = addDays(today, 1), guest } = own ?? {};
  return {
    /** Empty: not chosen yet. */
    typeId: own?.room_type_id ?? '',
    dates: [check_in, check_out] as [string | null, string | null],
    guests: own?.guests ?? 1,
    planId: '',
    name: guest?.name ?? '',
    phone: guest?.phone ?? '',
    email: guest?.email ?? '',
    overbook: false,
  };
}

function useSoldTypes(properties: Property[], [from, to]: Draft['dates']) {
  const calendars = useQueries({
    queries: properties.map(({ id }) => ({
      ...read('getCalendar', { query: { property_id: id, from: from ?? '', to: to ?? '' } }, ['reservations', 'rates']),
      enabled: from !== null && to !== null && from < to,
    })),
  });
  return {
    sold: new Map(calendars.flatMap(({ data }) => data?.room_types ?? []).map((type) => [type.id, type])),
    isWaiting: calendars.some(({ isLoading }) => isLoading),
    /** Why the service does not tell, for example because there are too many nights. */
    refusal: calendars.find(({ error }) => error !== null)?.error?.message,
  };
}

function leftOf(type: SoldType | undefined): number {
  return type === undefined ? 0 : Math.max(0, Math.min(...type.held.map((held) => type.physical_capacity - held)));
}

/** Saves once: the same `request_id` is one stay, however often it arrives. */
async function save(own: Stay | undefined, draft: Draft, id: string): Promise<StayWithHistory> {
  const { typeId, dates, guests, planId, overbook } = draft;
  const [name, phone, email] = [draft.name.trim(), draft.phone.trim(), draft.email.trim()];
  const [check_in, check_out] = [dates[0] ?? '', dates[1] ?? ''];
  const stay = { room_type_id: typeId, check_in, check_out, guests, overbook };
  if (own) return await changeStay(own, { ...stay, guest: { name, phone: phone || null, email: email || null } });
  const guest = { name, phone: phone || undefined, email: email || undefined };
  const body = { ...stay, guest, request_id: id, rate_plan_id: planId || undefined };
  return await keepStay(await sendWhenBack(() => call('bookStay', { body })));
}
