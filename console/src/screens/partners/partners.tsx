import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { ChipChoice } from '../../ui/filters.tsx';
import { FormDialog, TextField, useWrite } from '../../ui/form.tsx';
import { Ago } from '../../ui/history.tsx';
import { OnceDialog } from '../../ui/once.tsx';
import { NewButton, Page } from '../../ui/page.tsx';
import { QuestionDialog } from '../../ui/question.tsx';
import { type ListSearch, useAddress } from '../../ui/search.ts';
import { type Column, ListTable } from '../../ui/table.tsx';
import { Health } from './health.tsx';
import { KEY_READS, type Kind, KINDS, showSecret } from './keys.tsx';
import { PartnerDetail } from './partner-detail.tsx';
import { ChannelList, PmsList } from './pms-and-channels.tsx';

type Partner = Answer<'listStaffCredentials'>[number];

/** Whoever calls the API for the house: ordering and booking platforms, the PMS, and channels of OTAs. */
export function Partners() {
  const { search, set } = useAddress<ListSearch<'pms' | 'channels'>>('kind', 'open', 'new');
  const { kind = 'partners', open, new: isNew } = search;
  const hasHotel = useMe().tenant.features.includes('hotel');
  return (
    <Page
      title="Partners"
      isLive
      actions={<NewButton label={KINDS[kind].title} group="Partners" onPress={() => set({ new: '1' })} />}
      filters={
        hasHotel && (
          <ChipChoice
            label="Kind"
            all="Platforms"
            options={[
              { value: 'pms', label: 'PMS' },
              { value: 'channels', label: 'Channels' },
            ]}
            value={search.kind}
            onChange={(value) => set({ kind: value, open: undefined })}
          />
        )
      }
    >
      {kind === 'partners' && <PartnerList open={open} onOpen={(id) => set({ open: id })} />}
      {kind === 'partners' && <PartnerDetail id={open} onClose={() => set({ open: undefined })} />}
      {kind === 'pms' && <PmsList />}
      {kind === 'channels' && <ChannelList />}
      <NewPartner key={kind} kind={kind} isOpen={isNew === '1'} onClose={() => set({ new: undefined })} />
      <QuestionDialog />
      <OnceDialog />
    </Page>
  );
}

function PartnerList({ open, onOpen }: { open: string | undefined; onOpen: (id: string) => void }) {
  const list = useQuery(read('listStaffCredentials', {}, ['credentials', 'events']));
  const columns: Column<Partner>[] = [
    { label: 'Name', cell: ({ label }) => label || 'No name' },
    { label: 'Key', isWideOnly: true, cell: ({ api_key }) => <code>{api_key}</code> },
    { label: 'Webhook', cell: (partner) => <Health partner={partner} /> },
    { label: 'Waiting', isNumber: true, isWideOnly: true, cell: ({ deliveries }) => deliveries.pending || '' },
    { label: 'Failed', isNumber: true, isWideOnly: true, cell: ({ deliveries }) => deliveries.failed || '' },
    { label: 'Last call', isNumber: true, cell: ({ last_used_at: at }) => <Ago at={at} /> },
  ];
  const sorted = list.data?.toSorted((one, other) => Number(other.is_active) - Number(one.is_active));
  return (
    <ListTable
      label="Platforms"
      list={{ ...list, data: sorted }}
      columns={columns}
      keyOf={({ id }) => id}
      openKey={open}
      onOpen={({ id }) => onOpen(id)}
      empty={{
        title: 'No platform is connected yet.',
        text: 'Connect one to get its orders and stays: press “Connect a partner”, and hand the key on to its developer.',
      }}
    />
  );
}

function NewPartner({ kind, isOpen, onClose }: { kind: Kind; isOpen: boolean; onClose: () => void }) {
  const [label, setLabel] = useState('');
  const { title, name, description, example, create } = KINDS[kind];
  const sending = useWrite(
    KEY_READS,
    () => create(label.trim()),
    (made) => {
      onClose();
      setLabel('');
      showSecret(made);
    },
  );
  return (
    <FormDialog
      title={title}
      isOpen={isOpen}
      onClose={onClose}
      action="Make key and secret"
      isReady={label.trim() !== ''}
      sending={sending}
    >
      <TextField
        label={name}
        description={description}
        placeholder={example}
        data-autofocus
        maxLength={100}
        value={label}
        onChange={setLabel}
      />
    </FormDialog>
  );
}
