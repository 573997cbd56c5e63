import classes from './undo-tray.module.css';
import { undo, useMoves } from './moves.ts';
import { STATUS } from './statuses.ts';

/** What has been pressed in the last seconds, and the way back. On a phone, the card itself may be out of sight. */
export function UndoTray() {
  const moves = useMoves();
  const waiting = [...moves.values()].filter(({ phase }) => phase === 'undo').slice(-3);
  return (
    <div className={classes.tray} role="status">
      {waiting.map(({ order, to, at }) => (
        <div key={`${order.order_id} ${at}`} className={classes.line}>
          <span>
            <b>#{order.number}</b> {STATUS[to].label}
          </span>
          <button type="button" className={classes.button} onClick={() => undo(order.order_id)}>
            Undo <kbd aria-hidden="true">u</kbd>
            <span className="visually-hidden">
              {STATUS[to].label.toLowerCase()} of {order.number}
            </span>
          </button>
          <span className={classes.countdown} aria-hidden="true" />
        </div>
      ))}
    </div>
  );
}
