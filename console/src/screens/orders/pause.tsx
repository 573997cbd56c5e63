import { TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { serverNow, useNow } from '../../live/clock.ts';
import { ChipChoice } from '../../ui/chips.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { useFormat } from '../../ui/format.ts';
import { Strip } from '../../ui/strip.tsx';

const pauseQuery = read('getPause', {}, ['pause']);
type PauseState = Answer<'getPause'>;

/** The opening hours alone give neither an end nor a reason, but they always know when the restaurant opens. */
function isPaused({ is_open: open, until, reason, reopens_at: reopensAt }: PauseState): boolean {
  return !open && (until !== null || reason !== null || reopensAt === null);
}

export function usePause(): { state: PauseState | undefined; isPaused: boolean } {
  const { data } = useQuery(pauseQuery);
  return { state: data, isPaused: data !== undefined && isPaused(data) };
}

export async function resume(): Promise<void> {
  try {
    queryClient.setQueryData(pauseQuery.queryKey, await call('endPause', {}));
  } catch (error) {
    notifications.show({ title: 'Not changed', message: (error as Error).message, color: 'red' });
  }
}

/** Says calmly that no orders come, why, and until when. */
export function ClosedStrip() {
  const { state } = usePause();
  const now = useNow(10_000);
  const { moment } = useFormat();
  if (state === undefined || state.is_open) return null;
  if (!isPaused(state)) {
    return (
      <Strip>Closed by the opening hours. Partners can order again from {moment(state.reopens_at ?? now, now)}.</Strip>
    );
  }
  return (
    <Strip actions={[['Take orders again', () => void resume()]]}>
      <b>Orders are paused{state.until !== null && ` until ${moment(state.until, now)}`}.</b>{' '}
      {state.reason !== null && `${state.reason} `}Partners are told that the restaurant is closed.
    </Strip>
  );
}

const LENGTHS = [
  { value: '15', label: '15 min' },
  { value: '30', label: '30 min' },
  { value: '60', label: '1 hour' },
  { value: '120', label: '2 hours' },
] as const;

/** Asks for how long, and why. */
export function PauseDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [minutes, setMinutes] = useState<(typeof LENGTHS)[number]['value'] | undefined>('30');
  const [reason, setReason] = useState('');
  const sending = useMutation({
    mutationFn: async () => {
      const until = minutes && new Date(serverNow() + Number(minutes) * 60_000).toISOString();
      return await call('startPause', { body: { until, reason: reason.trim() || undefined } });
    },
    onSuccess(state) {
      queryClient.setQueryData(pauseQuery.queryKey, state);
      onClose();
    },
  });
  return (
    <FormDialog title="Pause orders" isOpen={isOpen} onClose={onClose} action="Pause orders" sending={sending}>
      <p>New orders are refused meanwhile. The orders on the board stay.</p>
      <ChipChoice label="How long" options={LENGTHS} value={minutes} onChange={setMinutes} all="Until I end it" />
      <TextInput
        mt="md"
        label="Reason"
        description="For your people alone. Partners never see it."
        maxLength={200}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
