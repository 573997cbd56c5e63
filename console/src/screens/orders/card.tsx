import { Menu } from '@mantine/core';
import { memo, type MouseEvent, useState } from 'react';
import { MoreIcon } from '../../ui/icons.tsx';
import { Status } from '../../ui/status.tsx';
import classes from './card.module.css';
import { type Move, moveOn, undo } from './moves.ts';
import { touch } from './sound.ts';
import {
  extrasOf,
  laterStatuses,
  type Order,
  type OrderStatus,
  partnerOf,
  pressOf,
  STATUS,
  TYPES,
} from './statuses.ts';
import { printTicket } from './ticket.tsx';
import { Countdown } from './undo-tray.tsx';

/** What a card asks of the screen. It stays the same object, so that cards do not render again. */
export interface CardActions {
  open: (order: Order) => void;
  cancel: (order: Order) => void;
}

interface CardProps {
  order: Order;
  /** Time since the order was placed. */
  age: string;
  /** Clock time that staff have promised, or null. */
  promised: string | null;
  /** Minutes by which the order is late, or null. */
  late: number | null;
  /** State of a press that the service does not have yet. */
  phase: Move['phase'] | undefined;
  isRinging: boolean;
  actions: CardActions;
}

/** An order on the board. It renders again only when what it shows has changed, because a board may hold 500 of them. */
export const Card = memo(function Card({ order, age, promised, late, phase, isRinging, actions }: CardProps) {
  const open = () => {
    touch(order.order_id);
    actions.open(order);
  };
  return (
    <li className={classes.place}>
      <article
        className={classes.card}
        data-late={late !== null || undefined}
        data-new={isRinging || undefined}
        data-status={order.status}
        aria-label={`Order ${order.number}`}
        onClick={(event) => {
          if (!(event.target as Element).closest('button, [role=menu]')) open();
        }}
      >
        <header className={classes.head}>
          <button type="button" className={classes.number} aria-label={`Open order ${order.number}`} onClick={open}>
            #{order.number}
          </button>
          <span className={classes.age}>{age}</span>
        </header>
        {late !== null && <Status tone="late">{late === 0 ? 'Late' : `Late ${late} min`}</Status>}
        <p className={classes.from}>
          {partnerOf(order)} · <span className={classes.type}>{TYPES[order.order_type]}</span>
          {promised !== null && (
            <>
              {' '}
              · <b>by {promised}</b>
            </>
          )}
        </p>
        <ul>
          {order.lines.map((line, index) => (
            <li key={index} className={classes.line}>
              <b>{line.quantity}</b>
              <span>
                {line.name}
                {extrasOf(line).map((extra) => (
                  <span key={extra} className={classes.extra}>
                    {extra}
                  </span>
                ))}
              </span>
            </li>
          ))}
        </ul>
        {order.notes !== null && <p className={classes.notes}>{order.notes}</p>}
        <Foot order={order} phase={phase} actions={actions} />
      </article>
    </li>
  );
});

function Foot({ order, phase, actions }: Pick<CardProps, 'order' | 'phase' | 'actions'>) {
  const [next] = laterStatuses(order);
  const isSending = phase === 'sending';
  if (phase === 'undo') {
    return (
      <footer className={classes.foot}>
        <button type="button" className={classes.press} data-wide="" onClick={() => undo(order.order_id)}>
          Undo
        </button>
        <Countdown />
      </footer>
    );
  }
  return (
    <footer className={classes.foot}>
      {next !== undefined && (
        <button
          type="button"
          className={classes.press}
          data-wide=""
          data-next=""
          disabled={isSending}
          onClick={(event) => press(event, order, next)}
        >
          {isSending ? 'Waiting to be sent' : pressOf(next, order)}
        </button>
      )}
      <MoreButton order={order} isDisabled={isSending} actions={actions} />
    </footer>
  );
}

function press(event: MouseEvent<HTMLButtonElement>, order: Order, to: OrderStatus): void {
  // The second press of a double press would hit the card that has moved up.
  if (event.detail > 1) return;
  touch(order.order_id);
  const column = event.detail === 0 ? event.currentTarget.closest('section') : null;
  moveOn(order, to);
  // A person at the keyboard goes on with the next card of the column.
  if (column) requestAnimationFrame(() => column.querySelector<HTMLElement>('[data-next]')?.focus());
}

/** The other statuses, and what is seldom done. The menu is built when it is opened first, because there are 500 cards. */
function MoreButton({ order, isDisabled, actions }: { order: Order; isDisabled: boolean; actions: CardActions }) {
  const [isOpen, setOpen] = useState(false);
  const button = (
    <button
      type="button"
      className={classes.press}
      aria-label={`More for order ${order.number}`}
      aria-haspopup="menu"
      disabled={isDisabled}
      onClick={() => {
        touch(order.order_id);
        setOpen(!isOpen);
      }}
    >
      <MoreIcon />
    </button>
  );
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-end" withinPortal returnFocus>
      <Menu.Target>{button}</Menu.Target>
      {isOpen && <OrderMenu order={order} onCancel={actions.cancel} />}
    </Menu>
  );
}

/** Items for all that may be done with an order beside its one button. */
export function OrderMenu({ order, onCancel }: { order: Order; onCancel: (order: Order) => void }) {
  const [, ...others] = laterStatuses(order);
  return (
    <Menu.Dropdown>
      {others.map((status) => (
        <Menu.Item key={status} onClick={() => moveOn(order, status)}>
          Straight to {STATUS[status].label.toLowerCase()}
        </Menu.Item>
      ))}
      <Menu.Item onClick={() => printTicket(order)}>Print a ticket</Menu.Item>
      <Menu.Divider />
      <Menu.Item c="var(--rs-late)" onClick={() => onCancel(order)}>
        Cancel the order…
      </Menu.Item>
    </Menu.Dropdown>
  );
}
