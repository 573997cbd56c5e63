import { Checkbox, Radio, Stack } from '@mantine/core';
import { type Area, useMe } from '../../api/session.ts';
import { AREAS } from '../../ui/areas.ts';
import type { Person } from './people-data.ts';

type Rights = Pick<Person, 'role' | 'areas'>;

/** Choice of the role, and for staff of the areas. */
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
    <Checkbox.Group label="May use" mt="md" value={areas} onChange={(next) => onChange(next)}>
      <Stack gap="xs" mt="xs">
        {offered.map(({ area, label, text }) => (
          <Checkbox key={area} value={area} label={label} description={text} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
