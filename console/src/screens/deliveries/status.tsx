import { Group } from '@mantine/core';
import type { Entry } from '../../api/reads.ts';
import { Status } from '../../ui/status.tsx';
import { MAX_ATTEMPTS, outcomeOf, STATUS, type StatusName } from './words.ts';

type Attempt = Entry<'listWebhookDeliveries'>['attempts'][number];

export function DeliveryStatus({ status }: { status: StatusName }) {
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
  const [colour, isFilled] = lookOf(attempt);
  return {
    width: 9,
    height: 9,
    border: `1.5px solid var(${colour})`,
    borderRadius: attempt?.error ? 2 : '50%',
    ...(isFilled && { background: `var(${colour})` }),
  };
}

function lookOf(attempt: Attempt | undefined): [colour: string, isFilled: boolean] {
  if (attempt === undefined) return ['--rs-line-strong', false];
  if (attempt.error !== null) return ['--rs-late', true];
  return attempt.http_status === null ? ['--rs-warn', false] : ['--rs-good', true];
}
