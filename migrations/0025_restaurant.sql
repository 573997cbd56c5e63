-- Changes of the status of an order. The first status, pending, is not stored: the credential of the order has set it at created_at.
CREATE TABLE order_status_change (
  tenant_id     bigint NOT NULL,
  order_id      uuid NOT NULL,
  id            uuid NOT NULL,
  -- Status before the change. A chain of rows from pending to the status of the order is the whole history. Without such a chain, a process
  -- of an earlier version has changed the status too, and the history is unknown.
  status_before text NOT NULL,
  status        text NOT NULL,
  changed_at    timestamptz NOT NULL,
  actor_type    text NOT NULL CHECK (actor_type IN ('person', 'display', 'partner', 'channel', 'operator', 'sandbox')),
  -- Null: the operator or the sandbox.
  actor_id      uuid,
  -- Id that the caller sent with the change. The same id again repeats the change, and changes nothing.
  request_id    uuid,
  PRIMARY KEY (tenant_id, order_id, id),
  FOREIGN KEY (tenant_id, order_id) REFERENCES restaurant_order (tenant_id, id) ON DELETE CASCADE
);

-- Time of the last change of the status, and the status that this change has set. If last_status is not the status of the order, a process of
-- an earlier version has changed the status since, and the time is unknown.
ALTER TABLE restaurant_order ADD COLUMN status_changed_at timestamptz;
ALTER TABLE restaurant_order ADD COLUMN last_status text;
-- Time at which staff expect the order to be ready. Null: staff have given no time.
ALTER TABLE restaurant_order ADD COLUMN ready_by timestamptz;
-- Reason that staff have given for the cancellation. Partners never see it. Null: no reason, or the order is not cancelled.
ALTER TABLE restaurant_order ADD COLUMN cancel_reason text;

-- When the restaurant takes orders. Without a row, it is always open.
CREATE TABLE opening (
  tenant_id    bigint NOT NULL PRIMARY KEY REFERENCES tenant (id),
  -- List of {weekday, opens, closes} in the time zone of the tenant. Empty: the restaurant is always open.
  hours        jsonb NOT NULL DEFAULT '[]',
  -- True from the begin of a pause until a person ends it. It stays true when paused_until has passed.
  is_paused    boolean NOT NULL DEFAULT false,
  -- End of the pause. Null: the end is open.
  paused_until timestamptz,
  -- For people of the tenant. Partners never see it.
  pause_reason text
);
