import { useEffect } from 'react';
import { createPortal } from 'react-dom';
import { useMe } from '../../api/session.ts';
import { useFormat } from '../../ui/format.ts';
import { makeStore, useStore } from '../../ui/store.ts';
import { extrasOf, type Order, partnerOf, TYPES } from './statuses.ts';
import classes from './ticket.module.css';

const printing = makeStore<Order | null>(null);

/** Prints a ticket of an order for a roll of paper of 80 mm. */
export function printTicket(order: Order): void {
  printing.set(order);
}

/** Holds the ticket while it is printed. The print styles hide all else of the page. */
export function TicketPrinter() {
  const order = useStore(printing);
  useEffect(() => {
    if (order === null) return;
    // A menu that has just closed gives the focus back first.
    const timer = setTimeout(() => window.print(), 50);
    // On some devices, `print` returns before anything is printed.
    const done = () => printing.set(null);
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
      <p>
        <b>
          {TYPES[order.order_type]} · {partnerOf(order)}
        </b>
      </p>
      <p>{dayAndTime(order.created_at)}</p>
      {order.ready_by !== null && <p>Ready by {dayAndTime(order.ready_by)}</p>}
      {lines.map((line, index) => (
        <div key={index} className={classes.line}>
          <b>
            {line.quantity} × {line.name}
          </b>
          {extrasOf(line).map((extra) => (
            <span key={extra} className={classes.extra}>
              {extra}
            </span>
          ))}
        </div>
      ))}
      {notes !== null && <p className={classes.notes}>{notes}</p>}
      {[customer.name, customer.phone, address].map((text) => text !== null && <p key={text}>{text}</p>)}
      <p>
        <b>
          Total {order.total} {order.currency}
        </b>
      </p>
      <p>{order.external_order_id}</p>
    </div>
  );
}
