import { Button, Group, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call } from '../../api/client.ts';
import { rereadTopics } from '../../api/query-client.ts';
import { areasOf, useMe } from '../../api/session.ts';
import { CopyField } from '../../ui/copy-field.tsx';
import classes from './refusals.module.css';

type Partner = Answer<'getStaffCredential'>;

/** Where a partner gets its events: the address, a test call, and the secret of a new registration, once. */
export function Webhook({ partner }: { partner: Partner }) {
  const { id, webhook_url: url, is_active: isActive } = partner;
  const [isEditing, setEditing] = useState(false);
  const [typed, setTyped] = useState(url);
  const mayTest = areasOf(useMe()).includes('deliveries');
  const reread = () => rereadTopics(new Set(['credentials']));
  const register = useMutation({
    mutationFn: () => call('setCredentialWebhook', { path: { id }, body: { webhook_url: typed.trim() } }),
    gcTime: 0,
    onSuccess() {
      setEditing(false);
      reread();
    },
  });
  const remove = useMutation({
    mutationFn: () => call('removeCredentialWebhook', { path: { id } }),
    onSuccess: reread,
  });
  const ping = useMutation({ mutationFn: () => call('sendTestCall', { path: { id } }) });
  const secret = register.data?.webhook_secret;
  return (
    <>
      {isEditing ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            register.mutate();
          }}
        >
          <TextInput
            label="Address of the receiver"
            description="HTTPS. The partner can also register it itself."
            placeholder="https://partner.example/webhooks"
            type="url"
            value={typed}
            error={register.error?.message}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Group mt="sm" gap="xs">
            <Button type="submit" loading={register.isPending}>
              Register
            </Button>
            <Button variant="default" onClick={() => setEditing(false)}>
              Cancel
            </Button>
          </Group>
        </form>
      ) : (
        <>
          <p className={classes.none}>{url === '' ? 'No webhook is registered, so events wait in the feed.' : url}</p>
          {isActive && (
            <Group mt="xs" gap="xs">
              {url !== '' && mayTest && (
                <Button variant="default" loading={ping.isPending} onClick={() => ping.mutate()}>
                  Send a test call
                </Button>
              )}
              <Button variant="default" onClick={() => setEditing(true)}>
                {url === '' ? 'Register a webhook' : 'Change'}
              </Button>
              {url !== '' && (
                <Button variant="subtle" color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
                  Remove
                </Button>
              )}
            </Group>
          )}
        </>
      )}
      {secret !== undefined && secret !== '' && (
        <CopyField label="Secret that signs its events, shown only now" value={secret} />
      )}
      {(ping.data || ping.error) && <TestOutcome outcome={ping.data} error={ping.error} />}
    </>
  );
}

function TestOutcome({ outcome, error }: { outcome: Answer<'sendTestCall'> | undefined; error: Error | null }) {
  if (outcome === undefined) {
    return <p role="status">{error?.message}</p>;
  }
  const words =
    outcome.http_status === null
      ? `No answer after ${outcome.duration_ms} ms: ${outcome.error ?? 'unknown'}.`
      : `It answered ${outcome.http_status} in ${outcome.duration_ms} ms.`;
  return (
    <div role="status">
      <p>{words}</p>
      {outcome.answer !== null && outcome.answer !== '' && <CopyField label="What it said" value={outcome.answer} />}
    </div>
  );
}
