import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { Ago } from '../../ui/ago.tsx';
import { Confirm } from '../../ui/form.tsx';
import { Failure } from '../../ui/failure.tsx';
import { useFormat } from '../../ui/format.ts';
import { Status } from '../../ui/status.tsx';
import { type Column, ShortList } from '../../ui/table.tsx';
import { type Secret, SecretDialog } from './secret-dialog.tsx';
import { useKeyWrite } from './use-key-write.ts';

interface Row {
  id: string;
  label: string;
  key: string;
  isActive: boolean;
  createdAt: string | null;
  /** Of a PMS alone. The service does not note the calls of channels. */
  lastUsedAt: string | null;
}

/** What differs between the lists of PMS and of channels. */
interface KeyKind {
  label: string;
  empty: string;
  revokeText: string;
  rotate: (id: string) => Promise<Secret>;
  revoke: (id: string) => Promise<unknown>;
}

const NOTE = 'The old secret has ended.';
const PMS: KeyKind = {
  label: 'PMS',
  empty: 'No PMS is connected.',
  revokeText: 'The PMS is refused at once, on all nodes.',
  async rotate(id) {
    const { label, api_key: key, api_secret: secret } = await call('rotatePmsCredential', { path: { id } });
    return { kind: 'pms', label, key, secret, note: NOTE };
  },
  revoke: (id) => call('revokePmsCredential', { path: { id } }),
};
const CHANNELS: KeyKind = {
  label: 'Channels',
  empty: 'No channel is connected.',
  revokeText: 'Reservations of the channel are refused at once. Its stays are kept.',
  async rotate(id) {
    const { source: label, channel_key: key, channel_secret: secret } = await call('rotateChannel', { path: { id } });
    return { kind: 'channels', label, key, secret, note: NOTE };
  },
  revoke: (id) => call('revokeChannel', { path: { id } }),
};

export function PmsList() {
  const query = useQuery(read('listPmsCredentials', {}, ['credentials']));
  const rowOf = (pms: NonNullable<typeof query.data>[number]): Row => ({
    id: pms.id,
    label: pms.label || 'No name',
    key: pms.api_key,
    isActive: pms.is_active,
    createdAt: pms.created_at,
    lastUsedAt: pms.last_used_at,
  });
  return <KeyList kind={PMS} list={{ ...query, data: query.data?.map(rowOf) }} />;
}

export function ChannelList() {
  const query = useQuery(read('listChannels', {}, ['credentials']));
  const rowOf = (channel: NonNullable<typeof query.data>[number]): Row => ({
    id: channel.id,
    label: channel.source,
    key: channel.channel_key,
    isActive: channel.is_active,
    createdAt: channel.created_at,
    lastUsedAt: null,
  });
  return <KeyList kind={CHANNELS} list={{ ...query, data: query.data?.map(rowOf) }} />;
}

interface ListProps {
  kind: KeyKind;
  list: { data: Row[] | undefined; error: Error | null; refetch: () => unknown };
}

function KeyList({ kind, list }: ListProps) {
  const [secret, setSecret] = useState<Secret | null>(null);
  const [revoking, setRevoking] = useState<Row | null>(null);
  const { dayAndTime } = useFormat();
  const rotate = useKeyWrite(kind.rotate, setSecret);
  const revoke = useKeyWrite(
    () => kind.revoke(revoking?.id ?? ''),
    () => setRevoking(null),
  );
  const columns: Column<Row>[] = [
    { label: 'Name', cell: ({ label }) => <strong>{label}</strong> },
    { label: 'Key', isWideOnly: true, cell: ({ key }) => <code>{key}</code> },
    {
      label: 'State',
      cell: ({ isActive }) => <Status tone={isActive ? 'good' : 'quiet'}>{isActive ? 'Active' : 'Revoked'}</Status>,
    },
    { label: 'Connected', isWideOnly: true, cell: ({ createdAt }) => createdAt !== null && dayAndTime(createdAt) },
    ...(kind === PMS ? [LAST_CALL] : []),
    {
      label: 'Actions',
      isNumber: true,
      cell: (row) =>
        row.isActive && (
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
        label={kind.label}
        list={list}
        columns={columns}
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

const LAST_CALL: Column<Row> = {
  label: 'Last call',
  isNumber: true,
  isWideOnly: true,
  cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} />,
};
