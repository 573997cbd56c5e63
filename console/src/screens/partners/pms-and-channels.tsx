import { Button, Group } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { rereadTopics } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { Ago } from '../../ui/ago.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Failure } from '../../ui/failure.tsx';
import { useFormat } from '../../ui/format.ts';
import { Status } from '../../ui/status.tsx';
import { type Column, ShortList } from '../../ui/table.tsx';
import { type Secret, SecretDialog } from './secret-dialog.tsx';

interface Row {
  id: string;
  label: string;
  key: string;
  isActive: boolean;
  createdAt: string | null;
  lastUsedAt: string | null;
}

export function PmsList() {
  const query = useQuery(read('listPmsCredentials', {}, ['credentials']));
  const rows = query.data?.map((each) => ({
    id: each.id,
    label: each.label || 'No name',
    key: each.api_key,
    isActive: each.is_active,
    createdAt: each.created_at,
    lastUsedAt: each.last_used_at,
  }));
  return (
    <KeyList
      kind="pms"
      rows={rows}
      query={query}
      empty="No PMS is connected."
      revokeText="The PMS is refused at once, on all nodes. This cannot be undone."
    />
  );
}

export function ChannelList() {
  const query = useQuery(read('listChannels', {}, ['credentials']));
  const rows = query.data?.map((each) => ({
    id: each.id,
    label: each.source,
    key: each.channel_key,
    isActive: each.is_active,
    createdAt: each.created_at,
    lastUsedAt: null,
  }));
  return (
    <KeyList
      kind="channels"
      rows={rows}
      query={query}
      empty="No channel is connected."
      revokeText="Reservations of the channel are refused at once. Its stays are kept. This cannot be undone."
    />
  );
}

interface ListProps {
  kind: 'pms' | 'channels';
  rows: Row[] | undefined;
  query: { error: Error | null; refetch: () => unknown };
  empty: string;
  revokeText: string;
}

function KeyList({ kind, rows, query, empty, revokeText }: ListProps) {
  const [secret, setSecret] = useState<Secret | null>(null);
  const [revoking, setRevoking] = useState<Row | null>(null);
  const { dayAndTime } = useFormat();
  const rotate = useMutation({ mutationFn: (row: Row) => rotateKey(kind, row), onSuccess: setSecret });
  const revoke = useMutation({
    mutationFn: () =>
      call(kind === 'pms' ? 'revokePmsCredential' : 'revokeChannel', { path: { id: revoking?.id ?? '' } }),
    onSuccess() {
      setRevoking(null);
      rereadTopics(new Set(['credentials']));
    },
  });
  const columns: Column<Row>[] = [
    { label: 'Name', cell: ({ label }) => <strong>{label}</strong> },
    { label: 'Key', isWideOnly: true, cell: ({ key }) => <code>{key}</code> },
    {
      label: 'State',
      cell: ({ isActive }) => <Status tone={isActive ? 'good' : 'quiet'}>{isActive ? 'Active' : 'Revoked'}</Status>,
    },
    { label: 'Connected', isWideOnly: true, cell: ({ createdAt }) => createdAt !== null && dayAndTime(createdAt) },
    ...(kind === 'pms' ? [LAST_CALL] : []),
    {
      label: 'Actions',
      isNumber: true,
      cell: (row) =>
        row.isActive && (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            <Button variant="subtle" size="compact-sm" loading={rotate.isPending} onClick={() => rotate.mutate(row)}>
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
        label={kind === 'pms' ? 'PMS' : 'Channels'}
        list={{ ...query, data: rows }}
        columns={columns}
        keyOf={({ id }) => id}
        empty={{ title: empty, text: 'Press the button above to make its key and secret.' }}
      />
      {rotate.error && <Failure error={rotate.error} />}
      <Confirm
        title={`Revoke ${revoking?.label ?? ''}`}
        text={revokeText}
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

const LAST_CALL: Column<Row> = {
  label: 'Last call',
  isNumber: true,
  isWideOnly: true,
  cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} />,
};

async function rotateKey(kind: 'pms' | 'channels', { id }: Row): Promise<Secret> {
  if (kind === 'pms') {
    const made = await call('rotatePmsCredential', { path: { id } });
    const note = 'The old secret has ended.';
    return { kind, label: made.label, key: made.api_key, secret: made.api_secret, note };
  }
  const made = await call('rotateChannel', { path: { id } });
  const note = 'The old secret has ended.';
  return { kind, label: made.source, key: made.channel_key, secret: made.channel_secret, note };
}
