import { Button, type ButtonProps, Menu, UnstyledButton } from '@mantine/core';
import { memo, type MouseEvent, useState } from 'react';
import { MoreIcon } from '../../ui/icons.tsx';
import { ask } from '../../ui/question.tsx';
import { Status } from '../../ui/status.tsx';
import classes from './card.module.css';
import { cancelOrder, type Move, moveOn, undo } from './moves.ts';
import type { OrdersSearch } from './search.ts';
import { touch } from './sound.ts';
import { extrasOf, laterStatuses, type Order, partnerOf, pressOf, STATUS, TYPES } from './statuses.ts';
import { printTicket } from './ticket.tsx';

interface CardProps {
  order: Order;
  age: string;
  /** Clock time that staff have promised, or null. */
  promised: string | null;
  /** Minutes by which the order is late, or null. */
  late: number | null;
  /** State of a press that the service does not have yet. */
  phase: Move['phase'] | undefined;
  isRinging: boolean;
  set: (change: OrdersSearch) => void;
}

/** An order on the board. It renders again only when what it shows has changed, because a board may hold 500 of them. */
export const Card = memo(function Card({ order, age, promised, late, phase, isRinging, set }: CardProps) {
  const open = () => set({ open: order.order_id });
  return (
    <li className={classes.place}>
      <article
        className={classes.card}
        data-late={late !== null || undefined}
        data-new={isRinging || undefined}
        aria-label={`Order ${order.number}`}
        onClick={(event) => {
          if (!(event.target as Element).closest('button, [role=menu]')) open();
        }}
      >
        <header>
          <UnstyledButton
            fz="1.2em"
            fw={700}
            m="-0.3em"
            p="0.3em"
            aria-label={`Open order ${order.number}`}
            onClick={open}
          >
            #{order.number}
          </UnstyledButton>
          <small>{age}</small>
        </header>
        {late !== null && <Status tone="late">{late === 0 ? 'Late' : `Late ${late} min`}</Status>}
        <small className={classes.facts}>
          <span>{partnerOf(order)}</span>
          <span>{TYPES[order.order_type]}</span>
          {promised !== null && <b>by {promised}</b>}
        </small>
        <ul>
          {order.lines.map((line, index) => (
            <li key={index}>
              <b>{line.quantity}</b>
              <span>
                {line.name}
                {extrasOf(line).map((extra) => (
                  <small key={extra}>{extra}</small>
                ))}
              </span>
            </li>
          ))}
        </ul>
        {order.notes !== null && <p className={classes.notes}>{order.notes}</p>}
        <Foot order={order} phase={phase} />
      </article>
    </li>
  );
});

/** Words of the one button of an order, and what it does. Null: nothing is left to do. */
export function stepOf(order: Order, phase: Move['phase'] | undefined) {
  if (phase === 'undo') return { words: 'Undo', run: () => undo(order.order_id) };
  const [next] = laterStatuses(order);
  if (next === undefined) return null;
  if (phase === 'sending') return { words: 'Not sent yet', run: undefined };
  return { words: pressOf(next, order), run: () => moveOn(order, next) };
}

/** A kitchen reads its words from two metres. */
const BUTTON = { h: 'max(2.6em, 36px)', px: '0.3em', fz: 'inherit' };

function Foot({ order, phase }: Pick<CardProps, 'order' | 'phase'>) {
  const { words, run } = stepOf(order, phase) ?? {};
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    // The second press of a double press would hit the card that has moved up.
    if (event.detail > 1) return;
    touch(order.order_id);
    const column = event.detail === 0 ? event.currentTarget.closest('section') : null;
    run?.();
    // A person at the keyboard goes on with the next card of the column.
    if (column) requestAnimationFrame(() => column.querySelector<HTMLElement>('[data-next]')?.focus());
  };
  return (
    <footer>
      <Button
        {...BUTTON}
        variant={order.status === 'pending' ? 'filled' : 'default'}
        flex={1}
        data-next={phase === undefined || undefined}
        disabled={run === undefined}
        onClick={press}
      >
        {words}
      </Button>
      {phase === 'undo' ? (
        <span className={classes.countdown} aria-hidden="true" />
      ) : (
        <MoreButton order={order} {...BUTTON} miw={44} disabled={phase === 'sending'} />
      )}
    </footer>
  );
}

/** The other statuses, and what is seldom done. The menu is built when it is opened, because there are 500 cards. */
export function MoreButton({ order, ...button }: ButtonProps & { order: Order }) {
  const [isOpen, setOpen] = useState(false);
  const [, ...others] = laterStatuses(order);
  return (
    <Menu opened={isOpen} onChange={setOpen} onOpen={() => touch(order.order_id)} position="bottom-end">
      <Menu.Target>
        <Button variant="default" aria-label={`More for order ${order.number}`} {...button}>
          <MoreIcon />
        </Button>
      </Menu.Target>
      {isOpen && (
        <Menu.Dropdown>
          {others.map((status) => (
            <Menu.Item key={status} onClick={() => moveOn(order, status)}>
              Straight to {STATUS[status].label.toLowerCase()}
            </Menu.Item>
          ))}
          <Menu.Item onClick={() => printTicket(order)}>Print a ticket</Menu.Item>
          <Menu.Divider />
          <Menu.Item c="var(--rs-late)" onClick={() => askToCancel(order)}>
            Cancel the order…
          </Menu.Item>
        </Menu.Dropdown>
      )}
    </Menu>
  );
}

function askToCancel(order: Order): void {
  ask({
    title: `Cancel order #${order.number}?`,
    text: `${partnerOf(order)} is told at once. This cannot be undone.`,
    reasons: [
      'A dish is sold out.',
      'The kitchen is too busy.',
      'The guest asked for it.',
      'The guest cannot be reached.',
    ],
    action: 'Cancel the order',
    color: 'red',
    cancel: 'Keep it',
    run: (reason) => cancelOrder(order, reason),
  });
}
