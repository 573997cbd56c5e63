import { Button, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { read } from '../../api/reads.ts';
import { areasOf, useMe } from '../../api/session.ts';
import { useNow } from '../../live/clock.ts';
import { Detail, Facts, StatusLine } from '../../ui/detail.tsx';
import { EventDeliveries } from '../../ui/event-deliveries.tsx';
import { Failure } from '../../ui/failure.tsx';
import { useFormat } from '../../ui/format.ts';
import { History } from '../../ui/history.tsx';
import { MoreIcon, PrintIcon } from '../../ui/icons.tsx';
import { Section } from '../../ui/page.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { OrderMenu } from './card.tsx';
import classes from './drawer.module.css';
import { moveOn, undo, useMoves } from './moves.ts';
import { openOrdersQuery, withMove } from './open-orders.ts';
import { Sum } from './order-parts.tsx';
import { isOpen, nextStatus, type Order, type OrderStatus, partnerOf, pressOf, STATUS, TYPES } from './statuses.ts';
import { printTicket } from './ticket.tsx';

interface DrawerProps {
  /** Id of the order that the address names. */
  id: string | undefined;
  onClose: () => void;
  onCancel: (order: Order) => void;
}

/** One order with all that is known of it. */
export function OrderDrawer({ id, onClose, onCancel }: DrawerProps) {
  // The drawer keeps what it showed while it slides away.
  const [shownId, setShownId] = useState(id);
  if (id !== undefined && id !== shownId) setShownId(id);
  const { data: open } = useQuery(openOrdersQuery);
  const known = open?.results.find((order) => order.order_id === shownId);
  const { data, error, refetch } = useQuery({
    ...read('getStaffOrder', { path: { order_id: shownId ?? '' } }, ['orders']),
    enabled: shownId !== undefined,
    placeholderData: known,
  });
  const move = useMoves().get(shownId ?? '');
  const order = data && withMove(data, move);
  return (
    <Detail
      title={order ? `Order #${order.number}` : 'Order'}
      isOpen={id !== undefined}
      onClose={onClose}
      actions={order && <Actions order={order} phase={move?.phase} onCancel={onCancel} />}
    >
      {order === undefined ? (
        error ? (
          <Failure error={error} retry={() => void refetch()} />
        ) : (
          <Waiting />
        )
      ) : (
        <Content order={order} />
      )}
    </Detail>
  );
}

function Content({ order }: { order: Order }) {
  const me = useMe();
  const now = useNow(10_000);
  const { moment, dayAndTime } = useFormat();
  const { customer } = order;
  const steps = order.history?.map((step) => ({ ...step, label: labelOf(step.status) }));
  return (
    <>
      <StatusLine {...STATUS[order.status]}>since {moment(order.status_changed_at, now)}</StatusLine>
      <Facts
        facts={[
          ['Partner', partnerOf(order)],
          ["Partner's id", order.external_order_id],
          ['Type', TYPES[order.order_type]],
          ['Placed', dayAndTime(order.created_at)],
          order.ready_by === null ? null : ['Promised for', moment(order.ready_by, now)],
          ['Guest', customer.name ?? 'No name given'],
          customer.phone === null ? null : ['Phone', customer.phone],
          order.delivery_address === null ? null : ['Address', order.delivery_address],
          order.notes === null ? null : ['Notes', <span className={classes.notes}>{order.notes}</span>],
          order.cancel_reason === null ? null : ['Cancelled because', order.cancel_reason],
        ]}
      />
      <Section title="Lines">
        <Sum order={order} />
      </Section>
      <Section title="History">
        <History steps={steps} />
      </Section>
      {areasOf(me).includes('deliveries') && (
        <Section title="Told to the partner">
          <EventDeliveries id={order.order_id} credentialId={order.credential_id} steps={steps?.slice(1)} />
        </Section>
      )}
    </>
  );
}

function labelOf(status: OrderStatus): string {
  return status === 'pending' ? 'Placed' : STATUS[status].label;
}

function Actions({
  order,
  phase,
  onCancel,
}: {
  order: Order;
  phase: 'undo' | 'sending' | undefined;
  onCancel: DrawerProps['onCancel'];
}) {
  const next = nextStatus(order);
  const print = (
    <Button variant="default" leftSection={<PrintIcon size={16} />} onClick={() => printTicket(order)}>
      Print
    </Button>
  );
  if (phase === 'undo') {
    return (
      <>
        <Button variant="light" onClick={() => undo(order.order_id)}>
          Undo {STATUS[order.status].label.toLowerCase()}
        </Button>
        {print}
      </>
    );
  }
  return (
    <>
      {next !== undefined && (
        <Button disabled={phase === 'sending'} onClick={() => moveOn(order, next)}>
          {phase === 'sending' ? 'Waiting to be sent' : pressOf(next, order)}
        </Button>
      )}
      {print}
      {isOpen(order.status) && phase === undefined && (
        <Menu position="top-end">
          <Menu.Target>
            <Button variant="default" aria-label={`More for order ${order.number}`}>
              <MoreIcon />
            </Button>
          </Menu.Target>
          <OrderMenu hasPrint={false} order={order} actions={{ cancel: onCancel }} />
        </Menu>
      )}
    </>
  );
}
