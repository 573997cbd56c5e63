import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { read } from '../../api/reads.ts';
import { serverNow, useNow } from '../../live/clock.ts';
import { ChipChoice } from '../../ui/filters.tsx';
import { FormDialog, TextField, useWrite } from '../../ui/form.tsx';
import { useFormat } from '../../ui/format.ts';
import { press } from '../../ui/press.ts';
import { Strip } from '../../ui/page.tsx';

/** Whether the restaurant takes orders. */
const pauseQuery = read('getPause', {}, ['pause']);

function resume(): void {
  const end = async () => queryClient.setQueryData(pauseQuery.queryKey, await call('endPause', {}));
  void press('Orders', 'taken again', end);
}

export function ClosedStrip() {
  const { data } = useQuery(pauseQuery);
  const now = useNow(10_000);
  const { moment } = useFormat();
  if (data === undefined || data.is_open) return null;
  const { until, reason, reopens_at: reopensAt } = data;
  // The opening hours alone give neither an end nor a reason, but they always know when the restaurant opens.
  if (until === null && reason === null && reopensAt !== null) {
    return <Strip>Closed by the opening hours. Partners can order again from {moment(reopensAt, now)}.</Strip>;
  }
  return (
    <Strip actions={[['Take orders again', resume]]}>
      <b>Orders are paused{until !== null && ` until ${moment(until, now)}`}.</b> {reason} Partners are told that the
      restaurant is closed.
    </Strip>
  );
}

/** In minutes. */
const LENGTHS = [
  { value: '15', label: '15 min' },
  { value: '30', label: '30 min' },
  { value: '60', label: '1 hour' },
  { value: '120', label: '2 hours' },
];

export function PauseDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [minutes, setMinutes] = useState<string | undefined>('30');
  const [reason, setReason] = useState('');
  const until = () => minutes && new Date(serverNow() + Number(minutes) * 60_000).toISOString();
  const send = () => call('startPause', { body: { until: until(), reason: reason.trim() || undefined } });
  const sending = useWrite(['getPause'], send, onClose);
  return (
    <FormDialog title="Pause orders" isOpen={isOpen} onClose={onClose} action="Pause orders" sending={sending}>
      <p style={{ marginTop: 0 }}>New orders are refused meanwhile. The orders on the board stay.</p>
      <ChipChoice label="How long" options={LENGTHS} value={minutes} onChange={setMinutes} all="Until I end it" />
      <TextField
        mt="md"
        label="Reason"
        description="For your people alone. Partners never see it."
        maxLength={200}
        value={reason}
        onChange={setReason}
      />
    </FormDialog>
  );
}
