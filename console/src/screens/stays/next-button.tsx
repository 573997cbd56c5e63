import { Button } from '@mantine/core';
import { type MouseEvent, useState } from 'react';
import { setArrived, setStatus } from './moves.ts';
import type { Asked } from './questions.ts';
import { type Next, nextOf, type Stay } from './statuses.ts';

/** Words of the button for the one thing that is to be done. */
export const NEXT: Record<Next, string> = { confirm: 'Confirm', arrive: 'Arrived', leave: 'Left' };

export async function pressNext(stay: Stay, next: Next, ask: (stay: Stay, to: Asked) => void): Promise<void> {
  if (next === 'leave') ask(stay, 'completed');
  else await (next === 'arrive' ? setArrived(stay, true) : setStatus(stay, 'confirmed'));
}

interface Props {
  stay: Stay;
  today: string;
  ask: (stay: Stay, to: Asked) => void;
}

/** The button of a row. Guests who have arrived by mistake have not arrived by the same button. */
export function NextButton({ stay, today, ask }: Props) {
  const [isSending, setSending] = useState(false);
  const next = nextOf(stay, today);
  const isBack = stay.status === 'confirmed' && stay.arrived_at !== null && stay.check_in === today;
  if (next === undefined && !isBack) return null;
  const label = next === undefined ? 'Undo' : NEXT[next];
  const press = async (event: MouseEvent<HTMLButtonElement>) => {
    event.stopPropagation();
    // The second press of a double press would hit the row that has moved up.
    if (event.detail > 1) return;
    const row = event.detail === 0 ? event.currentTarget.closest('tr') : null;
    const following = row?.nextElementSibling?.querySelector<HTMLElement>('[data-next]');
    setSending(true);
    await (next === undefined ? setArrived(stay, false) : pressNext(stay, next, ask));
    setSending(false);
    // A person at the keyboard goes on with the next row.
    if (next !== 'leave') following?.focus();
  };
  return (
    <Button
      variant={next === undefined ? 'subtle' : 'light'}
      size="compact-sm"
      data-next
      aria-label={`${label}: ${stay.guest.name}`}
      loading={isSending}
      onClick={(event) => void press(event)}
    >
      {label}
    </Button>
  );
}
