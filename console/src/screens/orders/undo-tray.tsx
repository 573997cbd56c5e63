import classes from './undo-tray.module.css';
import { undo } from './moves.ts';
import type { Move } from './open-orders.ts';
import { STATUS } from './statuses.ts';

/** What has been pressed in the last seconds, and the way back. On a phone, the card itself may be out of sight. */
export function UndoTray({ moves }: { moves: ReadonlyMap<string, Move> }) {
  const waiting = [...moves.values()].filter(({ phase }) => phase === 'undo').slice(-3);
  return (
    <div className={classes.tray} role="status">
      {waiting.map(({ order, to, at }) => (
        <div key={`${order.order_id} ${at}`} className={classes.line}>
          <span>
            <b>#{order.number}</b> {STATUS[to].label}
          </span>
          <button
            type="button"
            className={classes.button}
            aria-label={`Undo ${STATUS[to].label.toLowerCase()} of ${order.number}`}
            onClick={() => undo(order.order_id)}
          >
            Undo <kbd>u</kbd>
          </button>
          <span className={classes.countdown} aria-hidden="true" />
        </div>
      ))}
    </div>
  );
}
