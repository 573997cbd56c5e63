import { useState } from 'react';
import { call, type Input } from '../../api/client.ts';
import { CopyField } from '../../ui/copy-field.tsx';
import { Form, TextField, useWrite } from '../../ui/form.tsx';
import { useFormat } from '../../ui/format.ts';
import { showOnce } from '../../ui/once.tsx';
import { nameOf, type Person, RightsChoice } from './rights.tsx';

const NOBODY: Required<Input<'invitePerson'>['body']> = { email: '', name: '', role: 'staff', areas: [] };

export function Invite({ onClose }: { onClose: () => void }) {
  const [wanted, setWanted] = useState(NOBODY);
  const change = (part: Partial<typeof wanted>) => setWanted({ ...wanted, ...part });
  const seesSomething = wanted.role === 'owner' || wanted.areas.length > 0;
  const sending = useWrite(
    ['listPeople'],
    () => call('invitePerson', { body: { ...wanted, name: wanted.name.trim() || undefined } }),
    (made) => {
      onClose();
      showLink(made.person, made.invite_url, made.expires_at);
    },
  );
  return (
    <Form action="Invite" isReady={seesSomething} sending={sending} onCancel={onClose}>
      <TextField
        label="E-mail"
        type="email"
        data-autofocus
        required
        value={wanted.email}
        onChange={(email) => change({ email })}
      />
      <TextField label="Name" mt="md" maxLength={100} value={wanted.name} onChange={(name) => change({ name })} />
      <RightsChoice role={wanted.role} areas={wanted.areas} onChange={change} />
    </Form>
  );
}

/** Shows the link of an invitation or a reset, with which the person chooses a password. */
export function showLink(person: Person, url: string, end: string): void {
  const name = nameOf(person);
  showOnce({
    title: person.is_invited ? `Invitation for ${name}` : `New password for ${name}`,
    note: `The link is shown only now. Send it to ${name}: whoever opens it first chooses the password.`,
    content: (
      <>
        <CopyField label="Link" value={url} />
        <Validity end={end} email={person.email} />
      </>
    ),
  });
}

function Validity({ end, email }: { end: string; email: string }) {
  const { dayAndTime } = useFormat();
  return (
    <p>
      It works once, until {dayAndTime(end)}. If the operator has set up mail, it is on its way to {email} too.
    </p>
  );
}
