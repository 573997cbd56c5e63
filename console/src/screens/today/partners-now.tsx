import { useNavigate } from '@tanstack/react-router';
import { formatAge } from '../../ui/format.ts';
import { Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import classes from './partners-now.module.css';
import type { TodayData } from './today-data.ts';

type Partner = NonNullable<TodayData['partners']>[number];

export function PartnersNow({ partners, now }: { partners: Partner[]; now: number }) {
  const navigate = useNavigate();
  const columns: Column<Partner>[] = [
    { label: 'Name', cell: ({ label }) => label || 'No name' },
    { label: 'Delivered in 24 h', cell: (partner) => <Share {...partner} /> },
    {
      label: 'Last call',
      isNumber: true,
      cell: ({ last_used_at: at }) =>
        at === null ? (
          <span className={classes.none}>never</span>
        ) : (
          <span className={classes.when}>{formatAge(now - Date.parse(at))} ago</span>
        ),
    },
  ];
  return (
    <Section title="Partners">
      <Table
        label="Partners"
        columns={columns}
        rows={partners}
        keyOf={({ credential_id: id }) => id}
        onOpen={({ credential_id: open }) => void navigate({ to: '/partners', search: { open } })}
      />
    </Section>
  );
}

function Share({ delivered, undelivered, has_webhook: hasWebhook }: Partner) {
  const all = delivered + undelivered;
  if (all === 0) {
    return <span className={classes.none}>{hasWebhook ? 'Nothing to deliver' : 'No webhook'}</span>;
  }
  // 99.6 % is not 100 %: one that is missing must be seen.
  const percent = Math.floor((delivered / all) * 100);
  return (
    <span className={classes.share} data-bad={percent < 95 || undefined}>
      <span className={classes.track} aria-hidden="true">
        <span className={classes.bar} style={{ width: `${percent}%` }} />
      </span>
      {percent} %<span className={classes.none}>{`${delivered} of ${all}`}</span>
    </span>
  );
}
