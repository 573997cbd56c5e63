import { useEffect } from 'react';
import { ReasonDialog } from '../../ui/reason-dialog.tsx';
import { makeStore, useStore } from '../../ui/store.ts';
import { cancelOrder } from './moves.ts';
import { type Order, partnerOf } from './statuses.ts';

const asked = makeStore<Order | null>(null);

/** Opens the dialog that asks why an order is cancelled. */
export const askToCancel = asked.set;

export function CancelDialog() {
  const order = useStore(asked);
  // Back leaves the screen without an answer to the question.
  useEffect(() => () => askToCancel(null), []);
  const question = order && {
    title: `Cancel order #${order.number}?`,
    text: `${partnerOf(order)} is told at once. This cannot be undone.`,
    reasons: [
      'A dish is sold out.',
      'The kitchen is too busy.',
      'The guest asked for it.',
      'The guest cannot be reached.',
    ],
    press: 'Cancel the order',
    isGrave: true,
    run: (reason: string | undefined) => cancelOrder(order, reason),
  };
  return <ReasonDialog question={question} onClose={() => askToCancel(null)} />;
}
