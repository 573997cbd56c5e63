import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/reads.ts';
import { useFormat } from '../../ui/format.ts';
import { Ago } from '../../ui/history.tsx';
import type { Query } from '../../ui/loaded.tsx';
import { ask } from '../../ui/question.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, ListTable } from '../../ui/table.tsx';
import { KEY_READS, KINDS, showSecret } from './keys.tsx';

interface Row {
  id: string;
  label: string;
  api_key: string;
  is_active: boolean;
  created_at: string | null;
  /** Of a PMS alone. The service does not note the calls of channels. */
  last_used_at?: string | null;
}

export function PmsList() {
  return <KeyList kind="pms" list={useQuery(read('listPmsCredentials', {}, ['credentials']))} />;
}

export function ChannelList() {
  const query = useQuery(read('listChannels', {}, ['credentials']));
  const rows = query.data?.map((channel) => ({ ...channel, label: channel.source, api_key: channel.channel_key }));
  return <KeyList kind="channels" list={{ ...query, data: rows }} />;
}

function KeyList({ kind, list }: { kind: 'pms' | 'channels'; list: Query<Row[]> }) {
  const { list: title, empty, revokeText, ...writes } = KINDS[kind];
  const { dayAndTime } = useFormat();
  const askToRotate = ({ id, label }: Row) =>
    ask({
      title: `New secret of ${label || 'this key'}`,
      text: 'The old secret ends at once, so its calls are refused until it has the new one.',
      action: 'Make a new secret',
      reads: KEY_READS,
      run: async () => showSecret(await writes.rotate(id)),
    });
  const askToRevoke = ({ id, label }: Row) =>
    ask({
      title: `Revoke ${label || 'this key'}`,
      text: `${revokeText} This cannot be undone.`,
      word: label || 'revoke',
      action: 'Revoke',
      color: 'red',
      reads: KEY_READS,
      run: () => writes.revoke(id),
    });
  const all: Column<Row>[] = [
    { label: 'Name', cell: ({ label }) => <strong>{label || 'No name'}</strong> },
    { label: 'Key', isWideOnly: true, cell: ({ api_key: key }) => <code>{key}</code> },
    {
      label: 'State',
      cell: ({ is_active: isActive }) => (
        <Status tone={isActive ? 'good' : 'quiet'}>{isActive ? 'Active' : 'Revoked'}</Status>
      ),
    },
    { label: 'Connected', isWideOnly: true, cell: ({ created_at: at }) => at !== null && dayAndTime(at) },
    { label: 'Last call', isNumber: true, isWideOnly: true, cell: ({ last_used_at: at = null }) => <Ago at={at} /> },
    {
      label: 'Actions',
      isNumber: true,
      cell: (row) =>
        row.is_active && (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            <Button variant="subtle" size="compact-sm" onClick={() => askToRotate(row)}>
              New secret
            </Button>
            <Button variant="subtle" color="red" size="compact-sm" onClick={() => askToRevoke(row)}>
              Revoke
            </Button>
          </Group>
        ),
    },
  ];
  return (
    <ListTable
      label={title}
      list={list}
      columns={kind === 'pms' ? all : all.filter(({ label }) => label !== 'Last call')}
      keyOf={({ id }) => id}
      empty={{ title: empty, text: 'Press the button above to make its key and secret.' }}
    />
  );
}
