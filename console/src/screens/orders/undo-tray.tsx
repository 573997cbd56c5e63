import { Button, Kbd } from '@mantine/core';
import { undo, useMoves } from './moves.ts';
import { STATUS } from './statuses.ts';
import classes from './undo-tray.module.css';

/** What has been pressed in the last seconds, and the way back. On a phone, the card itself may be out of sight. */
export function UndoTray() {
  const waiting = [...useMoves().values()].filter(({ phase }) => phase === 'undo').slice(-3);
  return (
    <div className={classes.tray} role="status">
      {waiting.map(({ order, to, at }) => (
        <div key={`${order.order_id} ${at}`} className={classes.line}>
          <span>
            <b>#{order.number}</b> {STATUS[to].label}
          </span>
          <Button
            h={44}
            variant="subtle"
            rightSection={<Kbd aria-hidden="true">u</Kbd>}
            onClick={() => undo(order.order_id)}
          >
            Undo{' '}
            <span className="visually-hidden">
              {STATUS[to].label.toLowerCase()} of {order.number}
            </span>
          </Button>
          <Countdown />
        </div>
      ))}
    </div>
  );
}

/** A line that runs out with the time for Undo. */
export function Countdown() {
  return <span className={classes.countdown} aria-hidden="true" />;
}
