import { Box, Button, Select } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Answer, call } from '../../api/client.ts';
import { read, SOON_MS } from '../../api/reads.ts';
import { useMe } from '../../api/session.ts';
import { Detail, Facts } from '../../ui/detail.tsx';
import { FormDialog, useWrite } from '../../ui/form.tsx';
import { useFormat } from '../../ui/format.ts';
import { Ago, Moment, Moments } from '../../ui/history.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Section } from '../../ui/page.tsx';
import { ask } from '../../ui/question.tsx';
import { DeliveriesByHour, OrdersByDay, StaysByDay } from './bars.tsx';
import { Health } from './health.tsx';
import { ENDED, KEY_READS, secretOf, showSecret } from './keys.tsx';
import { Webhook } from './webhook.tsx';

type Partner = Answer<'getStaffCredential'>;

export function PartnerDetail({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useQuery(read('getStaffCredential', id && { path: { id } }, ['credentials', 'events']));
  const partner = query.data;
  return (
    <Detail
      title={partner === undefined ? 'Partner' : partner.label || 'No name'}
      isOpen={id !== undefined}
      onClose={onClose}
      actions={partner?.is_active && <Actions partner={partner} />}
    >
      <Loaded query={query}>{(data) => <Content partner={data} />}</Loaded>
    </Detail>
  );
}

function Content({ partner }: { partner: Partner }) {
  const { dayAndTime } = useFormat();
  const { features } = useMe().tenant;
  const { id, deliveries, budget } = partner;
  return (
    <>
      <Facts
        facts={[
          ['Webhook', <Health partner={partner} />],
          ['Key', <code>{partner.api_key}</code>],
          ['Last call', <Ago at={partner.last_used_at} />],
          ['Calls this minute', `${budget.used} of ${budget.limit}${budget.is_shared ? '' : ' on this server'}`],
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
        <DeliveriesByHour health={partner.health} />
      </Section>
      {features.includes('restaurant') && (
        <Section title="Orders of the last 14 days">
          <OrdersByDay id={id} />
        </Section>
      )}
      {features.includes('hotel') && (
        <Section title="Stays booked in the last 14 days">
          <StaysByDay id={id} />
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

/** Calls of a partner that the service refused, in the words that the partner's developer sees. */
function Refusals({ id }: { id: string }) {
  const query = useQuery({
    ...read('listRefusedCalls', { path: { id } }, ['credentials']),
    refetchInterval: SOON_MS,
  });
  return (
    <Loaded query={query} rows={2}>
      {(refusals) =>
        refusals.length === 0 ? (
          <p className="quiet">No call was refused.</p>
        ) : (
          <Moments>
            {refusals.map(({ id: key, method, path, at, status, code, message, request_id }) => (
              <Moment key={key} label={`${status} ${code}`} at={at}>
                <Box flex="1 0 100%" style={{ order: 1, overflowWrap: 'anywhere' }}>
                  {message}
                  <p className="quiet">
                    <code>
                      {method} {path}
                    </code>
                    . Request {request_id}
                  </p>
                </Box>
              </Moment>
            ))}
          </Moments>
        )
      }
    </Loaded>
  );
}

function Actions({ partner }: { partner: Partner }) {
  const { id, label } = partner;
  const [isRotating, { open, close }] = useDisclosure();
  const askToRevoke = () =>
    ask({
      title: `Revoke ${label || 'this partner'}`,
      text: 'The partner is refused at once, and waiting deliveries stop. Its orders and stays are kept. This cannot be undone.',
      word: label || 'revoke',
      action: 'Revoke',
      color: 'red',
      reads: KEY_READS,
      run: () => call('revokeCredential', { path: { id } }),
    });
  return (
    <>
      <Button variant="default" onClick={open}>
        New secret
      </Button>
      <Button variant="subtle" color="red" onClick={askToRevoke}>
        Revoke
      </Button>
      <Rotate id={id} isOpen={isRotating} onClose={close} />
    </>
  );
}

const OVERLAPS = [
  { value: '60', label: 'for an hour' },
  { value: '1440', label: 'for a day' },
  { value: '0', label: 'not at all: it may have leaked' },
];

function Rotate({ id, isOpen, onClose }: { id: string; isOpen: boolean; onClose: () => void }) {
  const [overlap, setOverlap] = useState('60');
  const { clock } = useFormat();
  const sending = useWrite(
    KEY_READS,
    () => call('rotateStaffCredential', { path: { id }, body: { overlap_minutes: Number(overlap) } }),
    (made) => {
      const end = clock(made.previous_secret_ends_at);
      onClose();
      showSecret(secretOf('partners', made, overlap === '0' ? ENDED : `The old secret works until ${end}.`));
    },
  );
  return (
    <FormDialog title="New secret" isOpen={isOpen} onClose={onClose} action="Make a new secret" sending={sending}>
      <Select
        label="How long does the old secret still work?"
        description="The partner changes over in this time without a refused call."
        allowDeselect={false}
        value={overlap}
        data={OVERLAPS}
        onChange={(value) => setOverlap(value ?? '60')}
      />
    </FormDialog>
  );
}
