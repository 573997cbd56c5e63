import { useState } from 'react';
import { type Answer, call, type Input } from '../../api/client.ts';
import { CopyField } from '../../ui/copy-field.tsx';
import { Form, OnceDialog, TextField, useWrite } from '../../ui/form.tsx';
import { useFormat } from '../../ui/format.ts';
import { nameOf, RightsChoice } from './rights.tsx';

/** Link with which a person chooses a password. It lives in its dialog alone. */
export type Link = Answer<'invitePerson'> | Answer<'resetPerson'>;

const NOBODY: Required<Input<'invitePerson'>['body']> = { email: '', name: '', role: 'staff', areas: [] };

export function Invite({ onClose, onLink }: { onClose: () => void; onLink: (link: Link) => void }) {
  const [wanted, setWanted] = useState(NOBODY);
  const change = (part: Partial<typeof wanted>) => setWanted({ ...wanted, ...part });
  const seesSomething = wanted.role === 'owner' || wanted.areas.length > 0;
  const sending = useWrite(
    ['listPeople'],
    () => call('invitePerson', { body: { ...wanted, name: wanted.name.trim() || undefined } }),
    (link) => {
      onClose();
      onLink(link);
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

/** The link of an invitation or a reset, and what to do with it. */
export function LinkDialog({ link, onClose }: { link: Link | null; onClose: () => void }) {
  const { dayAndTime } = useFormat();
  if (link === null) return null;
  const { person, expires_at: end } = link;
  const name = nameOf(person);
  return (
    <OnceDialog
      isOpen
      onClose={onClose}
      title={person.is_invited ? `Invitation for ${name}` : `New password for ${name}`}
      note={`The link is shown only now. Send it to ${name}: whoever opens it first chooses the password.`}
    >
      <CopyField label="Link" value={'invite_url' in link ? link.invite_url : link.reset_url} />
      <p>
        It works once, until {dayAndTime(end)}. If the operator has set up mail, it is on its way to {person.email} too.
      </p>
    </OnceDialog>
  );
}
