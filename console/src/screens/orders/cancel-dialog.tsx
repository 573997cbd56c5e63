import { ReasonDialog } from '../../ui/reason-dialog.tsx';
import { cancelOrder } from './moves.ts';
import { type Order, partnerOf } from './statuses.ts';

const REASONS = [
  'A dish is sold out.',
  'The kitchen is too busy.',
  'The guest asked for it.',
  'The guest cannot be reached.',
];

/** Asks before an order is cancelled, because nobody can take that back. */
export function CancelDialog({ order, onClose }: { order: Order | null; onClose: () => void }) {
  const question = order && {
    title: `Cancel order #${order.number}?`,
    text: `${partnerOf(order)} is told at once. This cannot be undone.`,
    reasons: REASONS,
    press: 'Cancel the order',
    isGrave: true,
    run: (reason: string | undefined) => cancelOrder(order, reason),
  };
  return <ReasonDialog question={question} onClose={onClose} />;
}
