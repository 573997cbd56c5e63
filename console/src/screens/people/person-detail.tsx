import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type Input } from '../../api/client.ts';
import { Detail, Facts } from '../../ui/detail.tsx';
import { Form, TextField, useWrite } from '../../ui/form.tsx';
import { Empty, Loaded } from '../../ui/loaded.tsx';
import { Section } from '../../ui/page.tsx';
import { ask } from '../../ui/question.tsx';
import { Sessions } from '../../ui/sessions.tsx';
import { showLink } from './invite.tsx';
import { nameOf, peopleQuery, type Person, RightsChoice } from './rights.tsx';

export function PersonDetail({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useQuery(peopleQuery);
  const person = query.data?.find((each) => each.id === id);
  return (
    <Detail
      title={person === undefined ? 'Person' : nameOf(person)}
      isOpen={id !== undefined}
      onClose={onClose}
      actions={person && <Actions key={id} person={person} />}
    >
      <Loaded query={query}>
        {() =>
          person === undefined ? (
            <Empty title="No such person in this house." />
          ) : (
            <>
              <Facts facts={[['E-mail', person.email]]} />
              <Section title="Name and rights">
                <RightsForm key={person.id} person={person} />
              </Section>
              <Sessions title="Sessions" personId={person.id} />
            </>
          )
        }
      </Loaded>
    </Detail>
  );
}

/** What nobody has touched here follows the service, also while another owner changes it. */
function RightsForm({ person }: { person: Person }) {
  const [draft, setDraft] = useState<Input<'changePerson'>['body']>({});
  const { name, role, areas } = { ...person, ...draft };
  const change = (part: typeof draft) => setDraft({ ...draft, ...part });
  // The service keeps no areas of an owner, so whoever becomes staff gets those that are ticked.
  const body = draft.role === 'staff' ? { ...draft, areas } : draft;
  const sending = useWrite(['listPeople'], () => call('changePerson', { path: { id: person.id }, body }));
  const mutate = () => sending.mutate(undefined, { onSuccess: () => setDraft({}) });
  return (
    <Form action="Save" sending={{ ...sending, mutate }} isReady={Object.keys(draft).length > 0}>
      <TextField label="Name" maxLength={100} value={name ?? ''} onChange={(text) => change({ name: text })} />
      <RightsChoice role={role} areas={areas} onChange={change} />
    </Form>
  );
}

const ACTIONS = {
  'New invitation': (name: string) => `${name} gets a new link. The link of before stops working.`,
  'Reset password': (name: string) =>
    `All sessions of ${name} end at once, and the password stops working. You get a link for a new one.`,
  Disable: (name: string) => `All sessions of ${name} end at once. Nobody can sign in as ${name} until it is enabled.`,
  Enable: (name: string) => `${name} can sign in again, with the password and the rights of before.`,
};
type Action = keyof typeof ACTIONS;

function Actions({ person }: { person: Person }) {
  const path = { id: person.id };
  const run = async (action: Action) => {
    if (action === 'Disable' || action === 'Enable') {
      await call('changePerson', { path, body: { is_active: action === 'Enable' } });
    } else {
      const made = await call('resetPerson', { path });
      showLink(made.person, made.reset_url, made.expires_at);
    }
  };
  const askFor = (action: Action) =>
    ask({
      title: `${action}: ${nameOf(person)}`,
      text: ACTIONS[action](nameOf(person)),
      action,
      color: action === 'Enable' ? undefined : 'red',
      reads: ['listPeople', 'listSessions'],
      run: () => run(action),
    });
  const usual: Action[] = [person.is_invited ? 'New invitation' : 'Reset password', 'Disable'];
  const offered: Action[] = person.is_active ? usual : ['Enable'];
  return offered.map((each) => (
    <Button key={each} variant="default" onClick={() => askFor(each)}>
      {each}
    </Button>
  ));
}
