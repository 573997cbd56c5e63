import { useNow } from '../../live/clock.ts';
import { formatAge, useFormat } from '../../ui/format.ts';
import { Status } from '../../ui/status.tsx';
import classes from './board.module.css';
import { Card, type CardActions } from './card.tsx';
import { lateBy, promisedTime, useLateMinutes } from './late.ts';
import type { Move } from './open-orders.ts';
import { type OpenStatus, type Order, STATUS } from './statuses.ts';

interface ColumnProps {
  status: OpenStatus;
  /** Key that presses the first card. */
  hotkey: string;
  orders: Order[];
  moves: ReadonlyMap<string, Move>;
  ringing: ReadonlySet<string>;
  actions: CardActions;
  /** A phone shows one column at a time. */
  isChosen: boolean;
}

const MINUTE_MS = 60_000;

/** All orders of one status, oldest first. */
export function Column({ status, hotkey, orders, moves, ringing, actions, isChosen }: ColumnProps) {
  const now = useNow();
  const minutes = useLateMinutes();
  const { clock } = useFormat();
  const late = orders.map((order) => lateBy(order, minutes, now));
  const lateCount = late.filter((each) => each !== null).length;
  const { label } = STATUS[status];
  const cards = orders.map((order, index) => {
    const promised = promisedTime(order);
    // In whole minutes, so that a card renders again once a minute.
    const ageMs = now - Date.parse(order.created_at);
    return (
      <Card
        key={order.order_id}
        order={order}
        age={ageMs < MINUTE_MS ? 'now' : formatAge(ageMs)}
        promised={promised && clock(promised)}
        late={late[index] ?? null}
        phase={moves.get(order.order_id)?.phase}
        isRinging={ringing.has(order.order_id)}
        actions={actions}
      />
    );
  });
  return (
    <section
      className={classes.column}
      id={`column-${status}`}
      aria-label={label}
      data-empty={orders.length === 0 || undefined}
      data-chosen={isChosen || undefined}
    >
      <header className={classes.columnHead}>
        <h2>{label}</h2>
        <span className={classes.count}>{orders.length}</span>
        {lateCount > 0 && <Status tone="late">{`${lateCount} late`}</Status>}
        <kbd title={`Press ${hotkey} for the first card`}>{hotkey}</kbd>
      </header>
      <ul className={classes.cards} tabIndex={orders.length > 0 ? 0 : undefined} aria-label={`${label} orders`}>
        {cards}
      </ul>
    </section>
  );
}
