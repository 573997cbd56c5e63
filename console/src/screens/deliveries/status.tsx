import { Group } from '@mantine/core';
import type { Entry } from '../../api/reads.ts';
import { Status, type Tone } from '../../ui/status.tsx';

export const STATUS = {
  pending: { label: 'Waiting', tone: 'warn' },
  delivered: { label: 'Delivered', tone: 'good' },
  failed: { label: 'Failed', tone: 'late' },
  stopped: { label: 'Stopped', tone: 'quiet' },
} as const satisfies Record<string, { label: string; tone: Tone }>;
export const STATUSES = Object.keys(STATUS) as (keyof typeof STATUS)[];

const EVENT = {
  'order.status_changed': 'Order status',
  'reservation.created': 'Stay booked',
  'reservation.modified': 'Stay changed',
  'reservation.cancelled': 'Stay cancelled',
};
type EventName = keyof typeof EVENT;
export const EVENTS = Object.keys(EVENT) as EventName[];

/** A later version of the service may send events that this one does not know. */
export function eventInWords(event: string): string {
  return EVENT[event as EventName] ?? event;
}

/** Number of attempts after which a delivery has failed. */
export const MAX_ATTEMPTS = 5;

export function outcomeOf({ http_status, error }: { http_status: number | null; error: string | null }): string {
  if (http_status !== null) return `answered ${http_status}`;
  return error === null ? 'under way' : error.replaceAll('_', ' ').replace(/dns|tls/, (word) => word.toUpperCase());
}

export function DeliveryStatus({ status }: { status: keyof typeof STATUS }) {
  return <Status tone={STATUS[status].tone}>{STATUS[status].label}</Status>;
}

type Attempt = Entry<'listWebhookDeliveries'>['attempts'][number];

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
