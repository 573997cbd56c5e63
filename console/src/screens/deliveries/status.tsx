import { Group } from '@mantine/core';
import type { Entry } from '../../api/reads.ts';
import { Status } from '../../ui/status.tsx';
import { MAX_ATTEMPTS, outcomeOf, STATUS } from './words.ts';

type Attempt = Entry<'listWebhookDeliveries'>['attempts'][number];

export function DeliveryStatus({ status }: { status: keyof typeof STATUS }) {
  return <Status tone={STATUS[status].tone}>{STATUS[status].label}</Status>;
}

/** The attempts of a delivery as five dots: a full one has an answer, a square one has failed, a hollow one is to come. */
export function AttemptDots({ attempts }: { attempts: Attempt[] }) {
  const words = attempts.map(outcomeOf).join(', ');
  const label = words === '' ? 'No attempt yet' : `${attempts.length} of ${MAX_ATTEMPTS} attempts: ${words}`;
  return (
    <Group component="span" gap={4} wrap="nowrap" role="img" aria-label={label}>
      {Array.from({ length: MAX_ATTEMPTS }, (_, index) => (
        <span key={index} style={dotOf(attempts[index])} />
      ))}
    </Group>
  );
}

function dotOf(attempt: Attempt | undefined) {
  const tone = attempt?.error ? 'late' : attempt?.http_status ? 'good' : attempt ? 'warn' : 'line-strong';
  return {
    width: 9,
    height: 9,
    border: `1.5px solid var(--rs-${tone})`,
    borderRadius: attempt?.error ? 2 : '50%',
    background: tone === 'late' || tone === 'good' ? `var(--rs-${tone})` : undefined,
  };
}
