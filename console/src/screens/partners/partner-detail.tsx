import { Button, Modal, Select, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Answer, call } from '../../api/client.ts';
import { rereadTopics } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { useNow } from '../../live/clock.ts';
import { Ago } from '../../ui/ago.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Detail, Facts } from '../../ui/detail.tsx';
import { Form } from '../../ui/form.tsx';
import { Failure } from '../../ui/failure.tsx';
import { useFormat } from '../../ui/format.ts';
import { Section } from '../../ui/page.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { Health } from './health.tsx';
import { HealthBars } from './health-bars.tsx';
import { OrdersByDay } from './orders-by-day.tsx';
import { Refusals } from './refusals.tsx';
import { type Secret, SecretDialog } from './secret-dialog.tsx';
import { Webhook } from './webhook.tsx';

type Partner = Answer<'getStaffCredential'>;

/** Drawer of one partner: how it does, and all that the owner may change about it. */
export function PartnerDetail({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { data, error, refetch } = useQuery({
    ...read('getStaffCredential', { path: { id: id ?? '' } }, ['credentials', 'events']),
    enabled: id !== undefined,
  });
  const [action, setAction] = useState<'rename' | 'rotate' | 'revoke' | null>(null);
  const [secret, setSecret] = useState<Secret | null>(null);
  const isActive = data?.is_active === true;
  return (
    <>
      <Detail
        title={data === undefined ? 'Partner' : data.label || 'No name'}
        isOpen={id !== undefined}
        onClose={onClose}
        actions={
          isActive && (
            <>
              <Button variant="default" onClick={() => setAction('rename')}>
                Rename
              </Button>
              <Button variant="default" onClick={() => setAction('rotate')}>
                New secret
              </Button>
              <Button variant="subtle" color="red" onClick={() => setAction('revoke')}>
                Revoke
              </Button>
            </>
          )
        }
      >
        {data !== undefined && <Content partner={data} />}
        {data === undefined && error !== null && <Failure error={error} retry={() => void refetch()} />}
        {data === undefined && error === null && <Waiting />}
      </Detail>
      {data !== undefined && (
        <>
          <Rename
            key={`rename ${data.label}`}
            partner={data}
            isOpen={action === 'rename'}
            onClose={() => setAction(null)}
          />
          <Rotate partner={data} isOpen={action === 'rotate'} onClose={() => setAction(null)} onSecret={setSecret} />
          <Revoke partner={data} isOpen={action === 'revoke'} onClose={() => setAction(null)} />
        </>
      )}
      <SecretDialog secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}

function Content({ partner }: { partner: Partner }) {
  const { dayAndTime } = useFormat();
  const hasRestaurant = useMe().tenant.features.includes('restaurant');
  const now = useNow(10_000);
  const { id, deliveries, budget } = partner;
  return (
    <>
      <Facts
        facts={[
          ['Webhook', <Health partner={partner} now={now} />],
          ['Key', <code>{partner.api_key}</code>],
          ['Last call', <Ago at={partner.last_used_at} />],
          [
            'Calls this minute',
            `${budget.used} of ${budget.limit}${budget.is_shared ? '' : ' on the process that answered'}`,
          ],
          partner.created_at === null ? null : ['Connected', dayAndTime(partner.created_at)],
          partner.last_rotated_at === null ? null : ['Secret of', dayAndTime(partner.last_rotated_at)],
        ]}
      />
      <Section
        title="Deliveries of the last 24 hours"
        aside={
          <Link to="/deliveries" search={{ partner: id, ...(deliveries.failed > 0 ? { status: 'failed' } : {}) }}>
            {deliveries.failed > 0 ? `${deliveries.failed} failed` : 'All deliveries'}
          </Link>
        }
      >
        <HealthBars health={partner.health} />
      </Section>
      {hasRestaurant && (
        <Section title="Orders of the last 14 days">
          <OrdersByDay id={id} />
        </Section>
      )}
      <Section title="Webhook">
        <Webhook key={`${id} ${partner.webhook_url}`} partner={partner} />
      </Section>
      <Section title="Refused calls">
        <Refusals id={id} />
      </Section>
    </>
  );
}

interface ActionProps {
  partner: Partner;
  isOpen: boolean;
  onClose: () => void;
}

function Rename({ partner, isOpen, onClose }: ActionProps) {
  const [label, setLabel] = useState(partner.label);
  const sending = useMutation({
    mutationFn: () => call('changeStaffCredential', { path: { id: partner.id }, body: { label: label.trim() } }),
    onSuccess() {
      onClose();
      rereadTopics(new Set(['credentials']));
    },
  });
  return (
    <Modal opened={isOpen} onClose={onClose} title="Rename">
      <Form action="Save" sending={sending} onCancel={onClose}>
        <TextInput
          label="Name"
          data-autofocus
          maxLength={100}
          value={label}
          onChange={(event) => setLabel(event.currentTarget.value)}
        />
      </Form>
    </Modal>
  );
}

const OVERLAPS = [
  { value: '60', label: 'for an hour' },
  { value: '1440', label: 'for a day' },
  { value: '0', label: 'not at all: it may have leaked' },
];

function Rotate({ partner, isOpen, onClose, onSecret }: ActionProps & { onSecret: (secret: Secret) => void }) {
  const [overlap, setOverlap] = useState('60');
  const { clock } = useFormat();
  const sending = useMutation({
    mutationFn: () =>
      call('rotateStaffCredential', { path: { id: partner.id }, body: { overlap_minutes: Number(overlap) } }),
    gcTime: 0,
    onSuccess(made) {
      onClose();
      onSecret({
        kind: 'partners',
        label: made.label,
        key: made.api_key,
        secret: made.api_secret,
        note:
          overlap === '0'
            ? 'The old secret has ended.'
            : `The old secret works until ${clock(made.previous_secret_ends_at)}.`,
      });
      rereadTopics(new Set(['credentials']));
    },
  });
  return (
    <Modal opened={isOpen} onClose={onClose} title="New secret">
      <Form action="Make a new secret" sending={sending} onCancel={onClose}>
        <Select
          label="How long does the old secret still work?"
          description="The partner changes over in this time without a refused call."
          allowDeselect={false}
          value={overlap}
          data={OVERLAPS}
          onChange={(value) => setOverlap(value ?? '60')}
        />
      </Form>
    </Modal>
  );
}

function Revoke({ partner, isOpen, onClose }: ActionProps) {
  const sending = useMutation({
    mutationFn: () => call('revokeCredential', { path: { id: partner.id } }),
    onSuccess() {
      onClose();
      rereadTopics(new Set(['credentials']));
    },
  });
  return (
    <Confirm
      title={`Revoke ${partner.label || 'this partner'}`}
      text="The partner is refused at once, on all nodes, and waiting deliveries stop. Its orders and stays are kept. This cannot be undone."
      word={partner.label || 'revoke'}
      action="Revoke"
      color="red"
      isOpen={isOpen}
      sending={sending}
      onClose={onClose}
    />
  );
}
