import { useNow } from '../../live/clock.ts';
import { useFormat } from '../../ui/format.ts';
import { AlertIcon } from '../../ui/icons.tsx';
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
  const now = useNow(1_000);
  const minutes = useLateMinutes();
  const late = orders.map((order) => lateBy(order, minutes, now));
  const lateCount = late.filter((each) => each !== null).length;
  const { clock } = useFormat();
  const promisedOf = (order: Order) => {
    const time = promisedTime(order);
    return time === null ? null : clock(time);
  };
  const { label } = STATUS[status];
  return (
    <section
      className={classes.column}
      id={`column-${status}`}
      aria-label={label}
      data-empty={orders.length === 0 || undefined}
      data-chosen={isChosen || undefined}
    >
      <header className={classes.columnHead}>
        <h2 className={classes.columnTitle}>{label}</h2>
        <span className={classes.count}>{orders.length}</span>
        {lateCount > 0 && (
          <span className={classes.lateCount}>
            <AlertIcon size={13} />
            {lateCount}
            <span className="visually-hidden"> late</span>
          </span>
        )}
        <kbd className={classes.hotkey} title={`Press ${hotkey} for the first card`}>
          {hotkey}
        </kbd>
      </header>
      <ul className={classes.cards} tabIndex={orders.length > 0 ? 0 : undefined} aria-label={`${label} orders`}>
        {orders.map((order, index) => (
          <Card
            key={order.order_id}
            order={order}
            age={ageOf(order, now)}
            promised={promisedOf(order)}
            late={late[index] ?? null}
            phase={moves.get(order.order_id)?.phase}
            isRinging={ringing.has(order.order_id)}
            actions={actions}
          />
        ))}
      </ul>
    </section>
  );
}

/** Age in minutes, so that a card changes once a minute. */
function ageOf({ created_at: at }: Order, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(at)) / MINUTE_MS));
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')}`;
  return `${Math.floor(minutes / (24 * 60))} d`;
}
