import { Checkbox, Radio, Stack } from '@mantine/core';
import type { Answer } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { type Area, type Feature, useMe } from '../../api/session.ts';

export type Person = Answer<'listPeople'>[number];
export const peopleQuery = read('listPeople', {}, ['people']);

export function nameOf({ name, email }: Pick<Person, 'name' | 'email'>): string {
  return name ?? email;
}

type Rights = Pick<Person, 'role' | 'areas'>;

/** What areas are for. Without its feature of the house, an area is of no use. */
const AREAS: { area: Area; label: string; text: string; feature?: Feature }[] = [
  { area: 'orders', label: 'Orders', text: 'Board and list: accept, cancel, pause.', feature: 'restaurant' },
  { area: 'menu', label: 'Menu', text: 'Dishes, prices, what is sold out.', feature: 'restaurant' },
  { area: 'hotel', label: 'Stays', text: 'Guests, arrivals, bookings, calendar.', feature: 'hotel' },
  { area: 'rates', label: 'Room prices', text: 'Prices and closed nights, with Stays.', feature: 'hotel' },
  { area: 'deliveries', label: 'Deliveries', text: 'What partners were sent and answered.' },
];

export function rightsInWords({ role, areas }: { role?: string | undefined; areas: readonly Area[] }): string {
  if (role === 'owner') return 'Everything';
  const words = AREAS.filter(({ area }) => areas.includes(area)).map(({ label }) => label);
  return words.join(', ') || 'Nothing yet';
}

export function RightsChoice({ role, areas, onChange }: Rights & { onChange: (change: Partial<Rights>) => void }) {
  return (
    <>
      <Radio.Group label="Role" mt="md" value={role} onChange={(next) => onChange({ role: next })}>
        <Stack gap="xs" mt="xs">
          <Radio value="staff" label="Staff" description="What you tick below." />
          <Radio value="owner" label="Owner" description="Everything, also partners and people." />
        </Stack>
      </Radio.Group>
      {role === 'staff' && <AreaChoice areas={areas} onChange={(next) => onChange({ areas: next })} />}
    </>
  );
}

/** Areas to tick, each with what it opens. Those of a feature that the house does not have are left out. */
export function AreaChoice({ areas, onChange }: { areas: Area[]; onChange: (areas: Area[]) => void }) {
  const { features } = useMe().tenant;
  const offered = AREAS.filter(({ feature }) => feature === undefined || features.includes(feature));
  return (
    <Checkbox.Group label="May use" mt="md" value={areas} onChange={onChange}>
      <Stack gap="xs" mt="xs">
        {offered.map(({ area, label, text }) => (
          <Checkbox key={area} value={area} label={label} description={text} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
