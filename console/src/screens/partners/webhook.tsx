import { Button, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call } from '../../api/client.ts';
import { areasOf, useMe } from '../../api/session.ts';
import { CopyField } from '../../ui/copy-field.tsx';
import { FormDialog, TextField, useWrite } from '../../ui/form.tsx';
import { ask } from '../../ui/question.tsx';
import { outcomeOf } from '../deliveries/status.tsx';
import { KEY_READS, showSecret } from './keys.tsx';

export function Webhook({ partner }: { partner: Answer<'getStaffCredential'> }) {
  const { id, label, webhook_url: url, is_active: isActive } = partner;
  const [isEditing, setEditing] = useState(false);
  const [typed, setTyped] = useState(url);
  const mayTest = areasOf(useMe()).includes('deliveries');
  const register = useWrite(
    KEY_READS,
    () => call('setCredentialWebhook', { path: { id }, body: { webhook_url: typed.trim() } }),
    ({ webhook_secret: secret }) => {
      const note = 'It signs the events that are sent to the webhook.';
      setEditing(false);
      if (secret) showSecret({ kind: 'webhook', label: `the webhook of ${label}`, secret, note });
    },
  );
  const askToRemove = () =>
    ask({
      title: `Remove the webhook of ${label}`,
      text: 'Deliveries that wait are never sent, and the secret of the webhook ends. The partner can still read its events in the feed.',
      action: 'Remove',
      color: 'red',
      reads: KEY_READS,
      run: () => call('removeCredentialWebhook', { path: { id } }),
    });
  const ping = useMutation({ mutationFn: () => call('sendTestCall', { path: { id } }) });
  return (
    <>
      <p className="quiet">{url === '' ? 'No webhook is registered, so events wait in the feed.' : url}</p>
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
            <Button variant="subtle" color="red" onClick={askToRemove}>
              Remove
            </Button>
          )}
        </Group>
      )}
      {(ping.data || ping.error) && <TestOutcome outcome={ping.data} error={ping.error} />}
      <FormDialog
        title="Where does the partner get its events?"
        isOpen={isEditing}
        onClose={() => setEditing(false)}
        action="Register"
        isReady={typed.trim() !== ''}
        sending={register}
      >
        <TextField
          label="Address of the receiver"
          description="HTTPS. The partner can also register it itself."
          placeholder="https://partner.example/webhooks"
          type="url"
          data-autofocus
          value={typed}
          onChange={setTyped}
        />
      </FormDialog>
    </>
  );
}

function TestOutcome({ outcome, error }: { outcome: Answer<'sendTestCall'> | undefined; error: Error | null }) {
  if (outcome === undefined) return <p role="status">{error?.message}</p>;
  const { http_status: status, duration_ms: ms, answer } = outcome;
  return (
    <div role="status">
      <p>
        {status === null ? `No answer after ${ms} ms: ${outcomeOf(outcome)}.` : `It answered ${status} in ${ms} ms.`}
      </p>
      {answer && <CopyField label="What it said" value={answer} />}
    </div>
  );
}
