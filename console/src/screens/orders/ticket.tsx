import { useEffect, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { useMe } from '../../api/session.ts';
import { useFormat } from '../../ui/format.ts';
import { type Order, partnerOf, TYPES } from './statuses.ts';
import classes from './ticket.module.css';

let printing: Order | null = null;
const listeners = new Set<() => void>();

function setPrinting(order: Order | null): void {
  printing = order;
  for (const listener of listeners) {
    listener();
  }
}

/** Prints a ticket of an order for a roll of paper of 80 mm. */
export function printTicket(order: Order): void {
  setPrinting(order);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Holds the ticket while it is printed. The print styles hide all else of the page. */
export function TicketPrinter() {
  const order = useSyncExternalStore(subscribe, () => printing);
  useEffect(() => {
    if (order === null) return;
    // A menu that has just closed gives the focus back first.
    const timer = setTimeout(() => window.print(), 50);
    // On some devices, `print` returns before anything is printed.
    const done = () => setPrinting(null);
    window.addEventListener('afterprint', done);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('afterprint', done);
    };
  }, [order]);
  return order && createPortal(<Ticket order={order} />, document.body);
}

function Ticket({ order }: { order: Order }) {
  const { tenant } = useMe();
  const { dayAndTime } = useFormat();
  const { customer, lines, notes, delivery_address: address } = order;
  return (
    <div className={classes.ticket}>
      <p>{tenant.name}</p>
      <p className={classes.number}>#{order.number}</p>
      <p className={classes.strong}>
        {TYPES[order.order_type]} · {partnerOf(order)}
      </p>
      <p>{dayAndTime(order.created_at)}</p>
      {order.ready_by !== null && <p className={classes.strong}>Ready by {dayAndTime(order.ready_by)}</p>}
      <ul className={classes.lines}>
        {lines.map(({ quantity, name, variant, addons }, index) => (
          <li key={index}>
            <span className={classes.strong}>
              {quantity} × {name}
              {variant !== null && `, ${variant}`}
            </span>
            {addons.map((addon) => (
              <span key={addon.name} className={classes.addon}>
                + {addon.quantity > 1 && `${addon.quantity} × `}
                {addon.name.replace(/^\+\s*/, '')}
              </span>
            ))}
          </li>
        ))}
      </ul>
      {notes !== null && <p className={classes.notes}>{notes}</p>}
      {[customer.name, customer.phone, address].map((text) => text !== null && <p key={text}>{text}</p>)}
      <p className={classes.total}>
        Total {order.total} {order.currency}
      </p>
      <p>{order.external_order_id}</p>
    </div>
  );
}
