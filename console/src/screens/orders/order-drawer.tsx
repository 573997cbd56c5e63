import { Button, Divider, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import type { Answer } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { useNow } from '../../live/clock.ts';
import { Detail, Facts, StatusLine } from '../../ui/detail.tsx';
import { useFormat } from '../../ui/format.ts';
import { PrintIcon } from '../../ui/icons.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Section } from '../../ui/page.tsx';
import { Story } from '../deliveries/event-deliveries.tsx';
import { hideUndo } from '../../ui/undo-notice.tsx';
import { openOrdersQuery } from './board.tsx';
import { MoreButton, stepOf } from './card.tsx';
import { type Move, useMoves } from './moves.ts';
import { addonName, countOf, isOpen, type Order, partnerOf, STATUS, TYPES } from './statuses.ts';
import { printTicket } from './ticket.tsx';

/** An order of the list, whose history is not known yet, or the order itself. */
type Known = Order & Pick<Answer<'getStaffOrder'>, 'history'>;

/** One order with all that is known of it. `id`: of the order that the address names. */
export function OrderDrawer({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { data: open } = useQuery(openOrdersQuery);
  const query = useQuery({
    ...read('getStaffOrder', id && { path: { order_id: id } }, ['orders']),
    placeholderData: open?.results.find((order) => order.order_id === id),
  });
  const move = useMoves().get(id ?? '');
  const order = query.data && { ...query.data, ...move?.order };
  return (
    <Detail
      title={order ? `Order #${order.number}` : 'Order'}
      isOpen={id !== undefined}
      onClose={onClose}
      actions={order && <Actions order={order} phase={move?.phase} />}
    >
      <Loaded query={{ ...query, data: order }}>{(known) => <Content order={known} />}</Loaded>
    </Detail>
  );
}

function Content({ order }: { order: Known }) {
  const now = useNow(10_000);
  const { moment, dayAndTime } = useFormat();
  const { customer, ready_by: readyBy, delivery_address: address, notes, cancel_reason: reason } = order;
  const steps = order.history?.map((step, index) => ({
    ...step,
    label: index === 0 ? 'Placed' : STATUS[step.status].label,
  }));
  return (
    <>
      <StatusLine {...STATUS[order.status]}>since {moment(order.status_changed_at, now)}</StatusLine>
      <Facts
        facts={[
          ['Partner', partnerOf(order)],
          ["Partner's id", order.external_order_id],
          ['Type', TYPES[order.order_type]],
          ['Placed', dayAndTime(order.created_at)],
          readyBy === null ? null : ['Promised for', moment(readyBy, now)],
          ['Guest', customer.name ?? 'No name given'],
          customer.phone === null ? null : ['Phone', customer.phone],
          address === null ? null : ['Address', address],
          notes === null ? null : ['Notes', <span style={{ whiteSpace: 'pre-wrap' }}>{notes}</span>],
          reason === null ? null : ['Cancelled because', reason],
        ]}
      />
      <Section title="Lines">
        <Sum order={order} />
      </Section>
      <Story id={order.order_id} credentialId={order.credential_id} steps={steps} told={steps?.slice(1)} />
    </>
  );
}

/** Lines of an order, with the arithmetic that leads to its total. */
function Sum({ order: { lines, total } }: { order: Order }) {
  const { money } = useFormat();
  const arithmeticOf = ({ quantity, variant, addons, unit_price, extra_tax_percentage }: Order['lines'][number]) => {
    const tax = Number(extra_tax_percentage);
    if (quantity === 1 && variant === null && addons.length === 0 && tax === 0) return null;
    const dish = variant === null ? money(unit_price) : `${variant} ${money(unit_price)}`;
    const extras = addons.map((addon) => `${addonName(addon)} ${countOf(addon.quantity)}${money(addon.price)}`);
    const each = extras.length === 0 ? dish : `(${[dish, ...extras].join(' + ')})`;
    return `${quantity} × ${each}${tax === 0 ? '' : ` + ${tax}% tax`}`;
  };
  return (
    <div>
      {lines.map((line, index) => (
        <Fragment key={index}>
          <Group justify="space-between" wrap="nowrap" fz="sm" fw={600}>
            <span>{`${line.quantity} × ${line.name}`}</span>
            <span>{money(line.total)}</span>
          </Group>
          <p className="quiet">{arithmeticOf(line)}</p>
          <Divider my={8} />
        </Fragment>
      ))}
      <Group justify="space-between" fz="sm" fw={650}>
        <span>Total</span>
        <span>{money(total)}</span>
      </Group>
    </div>
  );
}

function Actions({ order, phase }: { order: Order; phase: Move['phase'] | undefined }) {
  const { words, run } = stepOf(order, phase) ?? {};
  const press = () => {
    run?.();
    // This button is the way back then, and the notice would cover the others.
    hideUndo();
  };
  return (
    <>
      {words && (
        <Button variant={phase === 'undo' ? 'light' : 'filled'} disabled={!run} onClick={press}>
          {words}
        </Button>
      )}
      <Button variant="default" leftSection={<PrintIcon size={16} />} onClick={() => printTicket(order)}>
        Print
      </Button>
      {isOpen(order.status) && phase === undefined && <MoreButton order={order} />}
    </>
  );
}
