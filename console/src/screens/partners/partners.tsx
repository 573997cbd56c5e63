import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Answer } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { useNow } from '../../live/clock.ts';
import { ChipChoice } from '../../ui/chips.tsx';
import { type Command, useCommands } from '../../ui/commands.ts';
import { Empty } from '../../ui/empty.tsx';
import { formatAgo } from '../../ui/format.ts';
import { PlusIcon } from '../../ui/icons.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Health } from './health.tsx';
import { NEW, NewPartner } from './new-partner.tsx';
import { PartnerDetail } from './partner-detail.tsx';
import { ChannelList, PmsList } from './pms-and-channels.tsx';
import type { PartnersSearch } from './search.ts';

type Partner = Answer<'listStaffCredentials'>[number];

/** Whoever calls the API for the house: ordering and booking platforms, the PMS, and channels of OTAs. */
export function Partners() {
  const { kind = 'partners', open, new: isNew } = useSearch({ from: '/shell/partners' });
  const navigate = useNavigate({ from: '/partners' });
  const hasHotel = useMe().tenant.features.includes('hotel');
  const set = useMemo(
    () => (change: PartnersSearch) => void navigate({ search: (present) => ({ ...present, ...change }) }),
    [navigate],
  );
  useCommands(
    useMemo<Command[]>(
      () => [{ id: 'new partner', label: NEW[kind].title, group: 'Partners', keys: 'n', run: () => set({ new: '1' }) }],
      [kind, set],
    ),
  );
  return (
    <Page
      title="Partners"
      isLive
      actions={
        <Button leftSection={<PlusIcon size={16} />} onClick={() => set({ new: '1' })}>
          {NEW[kind].title}
        </Button>
      }
      filters={
        hasHotel && (
          <ChipChoice
            label="Kind"
            all="Platforms"
            options={[
              { value: 'pms', label: 'PMS' },
              { value: 'channels', label: 'Channels' },
            ]}
            value={kind === 'partners' ? undefined : kind}
            onChange={(value) => set({ kind: value, open: undefined })}
          />
        )
      }
    >
      {kind === 'partners' && <PartnerList open={open} onOpen={(id) => set({ open: id })} />}
      {kind === 'pms' && <PmsList />}
      {kind === 'channels' && <ChannelList />}
      {kind === 'partners' && <PartnerDetail id={open} onClose={() => set({ open: undefined })} />}
      <NewPartner key={kind} kind={kind} isOpen={isNew === '1'} onClose={() => set({ new: undefined })} />
    </Page>
  );
}

function PartnerList({ open, onOpen }: { open: string | undefined; onOpen: (id: string) => void }) {
  const query = useQuery(read('listStaffCredentials', {}, ['credentials', 'events']));
  const now = useNow(10_000);
  const columns: Column<Partner>[] = [
    { label: 'Name', cell: ({ label }) => label || 'No name' },
    { label: 'Key', isWideOnly: true, cell: ({ api_key }) => <code>{api_key}</code> },
    { label: 'Webhook', cell: (partner) => <Health partner={partner} now={now} /> },
    { label: 'Waiting', isNumber: true, isWideOnly: true, cell: ({ deliveries }) => deliveries.pending || '' },
    { label: 'Failed', isNumber: true, isWideOnly: true, cell: ({ deliveries }) => deliveries.failed || '' },
    { label: 'Last call', isNumber: true, cell: ({ last_used_at: at }) => formatAgo(at, now) },
  ];
  return (
    <Loaded query={query}>
      {(partners) =>
        partners.length === 0 ? (
          <Empty title="No platform is connected yet.">
            Connect one to get its orders and stays: press “Connect a partner”, and hand the key on to its developer.
          </Empty>
        ) : (
          <Table
            label="Platforms"
            columns={columns}
            rows={partners.toSorted((one, other) => Number(other.is_active) - Number(one.is_active))}
            keyOf={({ id }) => id}
            openKey={open}
            onOpen={({ id }) => onOpen(id)}
          />
        )
      }
    </Loaded>
  );
}
