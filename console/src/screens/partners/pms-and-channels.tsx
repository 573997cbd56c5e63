import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { Ago } from '../../ui/ago.tsx';
import { Confirm } from '../../ui/form.tsx';
import { Failure } from '../../ui/failure.tsx';
import { useFormat } from '../../ui/format.ts';
import type { Query } from '../../ui/loaded.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, ShortList } from '../../ui/table.tsx';
import { CHANNEL, type PlainKind, PMS, type Secret, useKeyWrite } from './key-kinds.ts';
import { SecretDialog } from './secret-dialog.tsx';

interface Row {
  id: string;
  label: string;
  key: string;
  is_active: boolean;
  created_at: string | null;
  /** Of a PMS alone. The service does not note the calls of channels. */
  last_used_at: string | null;
}

export function PmsList() {
  const query = useQuery(read('listPmsCredentials', {}, ['credentials']));
  return <KeyList kind={PMS} list={{ ...query, data: query.data?.map(rowOfPms) }} />;
}

export function ChannelList() {
  const query = useQuery(read('listChannels', {}, ['credentials']));
  return <KeyList kind={CHANNEL} list={{ ...query, data: query.data?.map(rowOfChannel) }} />;
}

function rowOfPms(pms: Answer<'listPmsCredentials'>[number]): Row {
  return { ...pms, label: pms.label || 'No name', key: pms.api_key };
}

function rowOfChannel({ source, channel_key: key, ...channel }: Answer<'listChannels'>[number]): Row {
  return { ...channel, label: source, key, last_used_at: null };
}

function KeyList({ kind, list }: { kind: PlainKind; list: Query<Row[]> }) {
  const [secret, setSecret] = useState<Secret | null>(null);
  const [revoking, setRevoking] = useState<Row | null>(null);
  const { dayAndTime } = useFormat();
  const rotate = useKeyWrite(kind.rotate, setSecret);
  const revoke = useKeyWrite(
    () => kind.revoke(revoking?.id ?? ''),
    () => setRevoking(null),
  );
  const all: Column<Row>[] = [
    { label: 'Name', cell: ({ label }) => <strong>{label}</strong> },
    { label: 'Key', isWideOnly: true, cell: ({ key }) => <code>{key}</code> },
    {
      label: 'State',
      cell: ({ is_active: isActive }) => (
        <Status tone={isActive ? 'good' : 'quiet'}>{isActive ? 'Active' : 'Revoked'}</Status>
      ),
    },
    { label: 'Connected', isWideOnly: true, cell: ({ created_at: at }) => at !== null && dayAndTime(at) },
    { label: 'Last call', isNumber: true, isWideOnly: true, cell: ({ last_used_at: at }) => <Ago at={at} /> },
    {
      label: 'Actions',
      isNumber: true,
      cell: (row) =>
        row.is_active && (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            <Button variant="subtle" size="compact-sm" loading={rotate.isPending} onClick={() => rotate.mutate(row.id)}>
              New secret
            </Button>
            <Button variant="subtle" color="red" size="compact-sm" onClick={() => setRevoking(row)}>
              Revoke
            </Button>
          </Group>
        ),
    },
  ];
  return (
    <>
      <ShortList
        label={kind.list}
        list={list}
        columns={kind === PMS ? all : all.filter(({ label }) => label !== 'Last call')}
        keyOf={({ id }) => id}
        empty={{ title: kind.empty, text: 'Press the button above to make its key and secret.' }}
      />
      {rotate.error && <Failure error={rotate.error} />}
      <Confirm
        title={`Revoke ${revoking?.label ?? ''}`}
        text={`${kind.revokeText} This cannot be undone.`}
        word={revoking?.label ?? ''}
        action="Revoke"
        color="red"
        isOpen={revoking !== null}
        sending={revoke}
        onClose={() => setRevoking(null)}
      />
      <SecretDialog secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}
