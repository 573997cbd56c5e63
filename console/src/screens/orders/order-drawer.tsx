import { Button, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../api/client.ts';
import { read } from '../../api/reads.ts';
import { useNow } from '../../live/clock.ts';
import { Detail, Facts, StatusLine, useLastId } from '../../ui/detail.tsx';
import { useFormat } from '../../ui/format.ts';
import { MoreIcon, PrintIcon } from '../../ui/icons.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Section } from '../../ui/page.tsx';
import { Story } from '../../ui/story.tsx';
import { openOrdersQuery } from './board.tsx';
import { OrderMenu } from './card.tsx';
import { type Move, moveOn, undo, useMoves } from './moves.ts';
import { isOpen, laterStatuses, type Order, partnerOf, pressOf, STATUS, TYPES } from './statuses.ts';
import { Sum } from './sum.tsx';
import { printTicket } from './ticket.tsx';

/** An order of the list, whose history is not known yet, or the order itself. */
type Known = Order & Pick<Answer<'getStaffOrder'>, 'history'>;

interface DrawerProps {
  /** Id of the order that the address names. */
  id: string | undefined;
  onClose: () => void;
  onCancel: (order: Order) => void;
}

/** One order with all that is known of it. */
export function OrderDrawer({ id, onClose, onCancel }: DrawerProps) {
  const shownId = useLastId(id);
  const { data: open } = useQuery(openOrdersQuery);
  const query = useQuery({
    ...read('getStaffOrder', { path: { order_id: shownId ?? '' } }, ['orders']),
    enabled: shownId !== undefined,
    placeholderData: open?.results.find((order) => order.order_id === shownId),
  });
  const move = useMoves().get(shownId ?? '');
  const order = query.data && { ...query.data, ...move?.order };
  return (
    <Detail
      title={order ? `Order #${order.number}` : 'Order'}
      isOpen={id !== undefined}
      onClose={onClose}
      actions={order && <Actions order={order} phase={move?.phase} onCancel={onCancel} />}
    >
      <Loaded query={{ ...query, data: order }}>{(known) => <Content order={known} />}</Loaded>
    </Detail>
  );
}

function Content({ order }: { order: Known }) {
  const now = useNow(10_000);
  const { moment, dayAndTime } = useFormat();
  const { customer, credential_id: credentialId, history } = order;
  const steps = history?.map((step, index) => ({ ...step, label: index === 0 ? 'Placed' : STATUS[step.status].label }));
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
          order.notes === null ? null : ['Notes', <span style={{ whiteSpace: 'pre-wrap' }}>{order.notes}</span>],
          order.cancel_reason === null ? null : ['Cancelled because', order.cancel_reason],
        ]}
      />
      <Section title="Lines">
        <Sum order={order} />
      </Section>
      <Story id={order.order_id} credentialId={credentialId} steps={steps} told={steps?.slice(1)} />
    </>
  );
}

interface ActionsProps {
  order: Order;
  phase: Move['phase'] | undefined;
  onCancel: DrawerProps['onCancel'];
}

function Actions({ order, phase, onCancel }: ActionsProps) {
  const [next] = laterStatuses(order);
  return (
    <>
      {phase === 'undo' && (
        <Button variant="light" onClick={() => undo(order.order_id)}>
          Undo {STATUS[order.status].label.toLowerCase()}
        </Button>
      )}
      {phase !== 'undo' && next !== undefined && (
        <Button disabled={phase === 'sending'} onClick={() => moveOn(order, next)}>
          {phase === 'sending' ? 'Waiting to be sent' : pressOf(next, order)}
        </Button>
      )}
      <Button variant="default" leftSection={<PrintIcon size={16} />} onClick={() => printTicket(order)}>
        Print
      </Button>
      {isOpen(order.status) && phase === undefined && (
        <Menu position="top-end">
          <Menu.Target>
            <Button variant="default" aria-label={`More for order ${order.number}`}>
              <MoreIcon />
            </Button>
          </Menu.Target>
          <OrderMenu order={order} onCancel={onCancel} />
        </Menu>
      )}
    </>
  );
}
