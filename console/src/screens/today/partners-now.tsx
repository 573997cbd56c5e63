import { Group, Progress, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { Answer } from '../../api/client.ts';
import { Ago } from '../../ui/ago.tsx';
import { Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';

type Partner = NonNullable<Answer<'getToday'>['partners']>[number];

const COLUMNS: Column<Partner>[] = [
  { label: 'Name', cell: ({ label }) => label || 'No name' },
  { label: 'Delivered in 24 h', cell: (partner) => <Share {...partner} /> },
  { label: 'Last call', isNumber: true, cell: ({ last_used_at: at }) => <Ago at={at} /> },
];

/** The partners, each with what reached it and its last call. */
export function PartnersNow({ partners }: { partners: Partner[] }) {
  const navigate = useNavigate();
  return (
    <Section title="Partners">
      <Table
        label="Partners"
        columns={COLUMNS}
        rows={partners}
        keyOf={({ credential_id: id }) => id}
        onOpen={({ credential_id: open }) => void navigate({ to: '/partners', search: { open } })}
      />
    </Section>
  );
}

function Share({ delivered, undelivered, has_webhook: hasWebhook }: Partner) {
  const all = delivered + undelivered;
  if (all === 0)
    return (
      <Text inherit c="dimmed">
        {hasWebhook ? 'Nothing to deliver' : 'No webhook'}
      </Text>
    );
  // 99.6% is not 100%: one that is missing must be seen.
  const percent = Math.floor((delivered / all) * 100);
  const color = percent < 95 ? 'var(--rs-late)' : 'var(--rs-good)';
  return (
    <Group gap="2px 10px">
      <Progress value={percent} color={color} w={72} size={6} visibleFrom="sm" aria-hidden="true" />
      <Text inherit c={percent < 95 ? color : undefined}>
        {percent}%
      </Text>
      <Text inherit c="dimmed">
        {delivered} of {all}
      </Text>
    </Group>
  );
}
