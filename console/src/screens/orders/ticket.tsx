import { Box } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useEffect } from 'react';
import { createPortal } from 'react-dom';
import { useMe } from '../../api/session.ts';
import { useFormat } from '../../ui/format.ts';
import { makeStore, useStore } from '../../ui/store.ts';
import { extrasOf, type Order, partnerOf, TYPES } from './statuses.ts';
import classes from './ticket.module.css';

const printing = makeStore<Order | null>(null);

/** Prints a ticket of an order for a roll of paper of 80 mm. */
export const printTicket = printing.set;

/** Holds the ticket while it is printed. The print styles hide all else of the page. */
export function TicketPrinter() {
  const order = useStore(printing);
  useEffect(() => {
    if (order === null) return;
    // A menu that has just closed gives the focus back first.
    const timer = setTimeout(() => window.print(), 50);
    return () => clearTimeout(timer);
  }, [order]);
  // On some devices, `print` returns before anything is printed.
  useWindowEvent('afterprint', () => printing.set(null));
  return order && createPortal(<Ticket order={order} />, document.body);
}

function Ticket({ order }: { order: Order }) {
  const { tenant } = useMe();
  const { dayAndTime } = useFormat();
  const { customer, lines, notes, delivery_address: address } = order;
  return (
    <div className={`${classes.ticket} on-paper`}>
      {tenant.name}
      <Box fz="26pt" fw={700} lh={1.1} my="1mm">
        #{order.number}
      </Box>
      <b>
        {TYPES[order.order_type]} · {partnerOf(order)}
      </b>
      <div>{dayAndTime(order.created_at)}</div>
      {order.ready_by !== null && <div>Ready by {dayAndTime(order.ready_by)}</div>}
      {lines.map((line, index) => (
        <Box key={index} my="3mm" style={{ breakInside: 'avoid' }}>
          <b>
            {line.quantity} × {line.name}
          </b>
          {extrasOf(line).map((extra) => (
            <Box key={extra} pl="4mm">
              {extra}
            </Box>
          ))}
        </Box>
      ))}
      {notes !== null && (
        <Box p="2mm" mb="3mm" bd="2px solid #000" fw={700} style={{ whiteSpace: 'pre-wrap' }}>
          {notes}
        </Box>
      )}
      {[customer.name, customer.phone, address].map((text) => text !== null && <div key={text}>{text}</div>)}
      <Box fw={700} my="1mm">
        Total {order.total} {order.currency}
      </Box>
      {order.external_order_id}
    </div>
  );
}
