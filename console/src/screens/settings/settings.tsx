import { Box, Checkbox, NumberInput, SimpleGrid, useMantineColorScheme } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { areasOf, keepSession, useMe } from '../../api/session.ts';
import { rightsInWords } from '../people/rights.tsx';
import { Facts } from '../../ui/detail.tsx';
import { ChipChoice } from '../../ui/filters.tsx';
import { Form, NewPassword, PasswordField, TextField, useWrite } from '../../ui/form.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Sessions } from '../../ui/sessions.tsx';
import { DEFAULT_LATE, keepLateMinutes, useLateMinutes } from '../orders/late.ts';
import { setMuted, useMuted } from '../orders/sound.ts';
import { OPEN_STATUSES, STATUS } from '../orders/statuses.ts';

const SCHEMES = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

/** What a person, or a display, may set for itself and for this browser. */
export function Settings() {
  const me = useMe();
  const { person, display, tenant } = me;
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const isMuted = useMuted();
  const seesOrders = areasOf(me).includes('orders') && tenant.features.includes('restaurant');
  return (
    <Page title="Settings">
      <Box maw={560}>
        <Section title={person === null ? 'This display' : 'You'}>
          <Facts
            facts={[
              person === null ? ['Name', display?.label] : ['E-mail', person.email],
              ['May use', rightsInWords({ role: person?.role, areas: areasOf(me) })],
            ]}
          />
          {person !== null && <NameForm key={person.name} name={person.name ?? ''} />}
        </Section>
        {person !== null && (
          <>
            <Section title="Password">
              <PasswordForm email={person.email} />
            </Section>
            <Sessions title="Your devices" />
          </>
        )}
        <Section title="This browser">
          <ChipChoice
            label="Appearance"
            all="As the device"
            options={SCHEMES}
            value={colorScheme === 'auto' ? undefined : colorScheme}
            onChange={(value) => setColorScheme(value ?? 'auto')}
          />
          {seesOrders && (
            <Checkbox
              mt="md"
              label="Ring for new orders"
              description="While Orders is open, until somebody touches the new order."
              checked={!isMuted}
              onChange={(event) => setMuted(!event.currentTarget.checked)}
            />
          )}
        </Section>
        {seesOrders && (
          <Section title="Late orders">
            <LateMinutes />
          </Section>
        )}
      </Box>
    </Page>
  );
}

function NameForm({ name }: { name: string }) {
  const [typed, setTyped] = useState(name);
  const sending = useWrite(['listPeople'], () => call('changeMe', { body: { name: typed.trim() } }), keepSession);
  return (
    <Form action="Save" sending={sending} isReady={typed.trim() !== name && typed.trim() !== ''}>
      <TextField
        label="Name"
        description="The others see it beside what you did."
        autoComplete="name"
        maxLength={100}
        mt="sm"
        value={typed}
        onChange={setTyped}
      />
    </Form>
  );
}

function PasswordForm({ email }: { email: string }) {
  const [current, setCurrent] = useState('');
  const [wanted, setWanted] = useState('');
  const body = { current_password: current, new_password: wanted };
  const sending = useWrite(
    ['listSessions'],
    // A 401 means that the current password is wrong.
    () => call('changePassword', { body }, { isSigningIn: true }),
    () => {
      setCurrent('');
      setWanted('');
    },
  );
  return (
    <Form action="Change the password" sending={sending} isReady={current !== '' && wanted !== ''}>
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <PasswordField label="Current password" value={current} onChange={setCurrent} />
      <NewPassword label="New password" my="sm" value={wanted} onChange={setWanted} />
      <p role="status" className="quiet">
        {sending.isSuccess ? 'Changed. Your other devices are signed out.' : 'Your other devices are then signed out.'}
      </p>
    </Form>
  );
}

function LateMinutes() {
  const minutes = useLateMinutes();
  return (
    <>
      <p className="quiet">
        An order is late after this many minutes in a column, or when a promised time has passed. Empty a field for the
        usual time. Kept in this browser.
      </p>
      <SimpleGrid cols={{ base: 2, sm: 3 }} spacing={12} mt={12}>
        {OPEN_STATUSES.map((status) => (
          <NumberInput
            key={status}
            label={STATUS[status].label}
            placeholder={`${DEFAULT_LATE[status]} min`}
            suffix=" min"
            min={1}
            max={600}
            allowDecimal={false}
            defaultValue={minutes[status]}
            onChange={(value) => keepLateMinutes({ ...minutes, [status]: Number(value) || DEFAULT_LATE[status] })}
          />
        ))}
      </SimpleGrid>
    </>
  );
}
