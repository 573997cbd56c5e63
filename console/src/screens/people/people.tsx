import { Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ChipChoice } from '../../ui/filters.tsx';
import { Ago } from '../../ui/history.tsx';
import { OnceDialog } from '../../ui/once.tsx';
import { NewButton, Page } from '../../ui/page.tsx';
import { QuestionDialog } from '../../ui/question.tsx';
import { type ListSearch, useAddress } from '../../ui/search.ts';
import { Status } from '../../ui/status.tsx';
import { type Column, ListTable, TwoLines } from '../../ui/table.tsx';
import { DisplayList, NewDisplay } from './displays.tsx';
import { Invite } from './invite.tsx';
import { PersonDetail } from './person-detail.tsx';
import { nameOf, peopleQuery, type Person, rightsInWords } from './rights.tsx';

/** Whoever works in the house: people who sign in, and displays that act without a person. */
export function People() {
  const { search, set } = useAddress<ListSearch<'displays'>>('kind', 'open', 'new');
  const { kind, open, new: isNew } = search;
  const action = kind === undefined ? 'Invite a person' : 'Add a display';
  const close = () => set({ new: undefined });
  return (
    <Page
      title="People"
      isLive
      actions={<NewButton label={action} group="People" onPress={() => set({ new: '1' })} />}
      filters={
        <ChipChoice
          label="Kind"
          all="People"
          options={[{ value: 'displays', label: 'Displays' }]}
          value={kind}
          onChange={(value) => set({ kind: value, open: undefined })}
        />
      }
    >
      {kind === undefined ? <PeopleList open={open} onOpen={(id) => set({ open: id })} /> : <DisplayList />}
      <PersonDetail id={open} onClose={() => set({ open: undefined })} />
      <Modal opened={isNew === '1'} onClose={close} title={action} closeOnClickOutside={false}>
        {kind === undefined ? <Invite onClose={close} /> : <NewDisplay onClose={close} />}
      </Modal>
      <QuestionDialog />
      <OnceDialog />
    </Page>
  );
}

function PeopleList({ open, onOpen }: { open: string | undefined; onOpen: (id: string) => void }) {
  const list = useQuery(peopleQuery);
  const columns: Column<Person>[] = [
    { label: 'Name', cell: (person) => <TwoLines first={nameOf(person)} second={person.name && person.email} /> },
    { label: 'E-mail', isWideOnly: true, cell: ({ email }) => email },
    { label: 'Role', cell: ({ role }) => (role === 'owner' ? 'Owner' : 'Staff') },
    { label: 'May use', isWideOnly: true, cell: rightsInWords },
    { label: 'Last seen', isNumber: true, cell: (person) => <LastSeen person={person} /> },
  ];
  return (
    <ListTable
      label="People"
      list={{ ...list, data: list.data?.toSorted((one, other) => Number(other.is_active) - Number(one.is_active)) }}
      columns={columns}
      keyOf={({ id }) => id}
      openKey={open}
      onOpen={({ id }) => onOpen(id)}
      empty={{ title: 'Nobody is here yet.' }}
    />
  );
}

function LastSeen({ person }: { person: Person }) {
  if (!person.is_active) return <Status tone="quiet">Disabled</Status>;
  return person.is_invited ? <Status tone="accent">Invited</Status> : <Ago at={person.last_seen_at} />;
}
