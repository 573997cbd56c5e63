import type { Database } from './database.ts';

/**
 * SQL for a schema with triggers. The triggers insert a row into this schema for each change of a status and each new event. No later
 * transaction changes such a row, so the commit time that PostgreSQL returns for the row is the commit time of the recorded change. The
 * triggers run as the user of the suite, because the user of the service may not write to this schema.
 */
const OBSERVATION = `
  CREATE SCHEMA faults;
  CREATE TABLE faults.change (tenant_id bigint, source text, subject uuid, status text, is_new boolean, tx xid8);
  CREATE TABLE faults.event (tenant_id bigint, id uuid, tx xid8);
  CREATE INDEX ON faults.event (id);
  CREATE INDEX ON faults.change (subject);

  CREATE FUNCTION faults.see_status() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  BEGIN
    IF TG_OP = 'INSERT' OR NEW.status <> OLD.status THEN
      INSERT INTO faults.change
        VALUES (NEW.tenant_id, TG_TABLE_NAME, NEW.id, NEW.status, TG_OP = 'INSERT', pg_current_xact_id());
    END IF;
    RETURN NULL;
  END $$;
  -- A transaction removes a booking that it has inserted itself if no room is free. No other reservation is ever removed.
  CREATE FUNCTION faults.see_removal() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  BEGIN
    DELETE FROM faults.change WHERE subject = OLD.id AND tenant_id = OLD.tenant_id AND is_new AND tx = pg_current_xact_id();
    IF NOT FOUND THEN
      INSERT INTO faults.change VALUES (OLD.tenant_id, TG_TABLE_NAME, OLD.id, 'removed', false, pg_current_xact_id());
    END IF;
    RETURN NULL;
  END $$;
  CREATE FUNCTION faults.see_event() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  BEGIN
    INSERT INTO faults.event VALUES (NEW.tenant_id, NEW.id, pg_current_xact_id());
    RETURN NULL;
  END $$;

  CREATE TRIGGER see AFTER UPDATE ON restaurant_order FOR EACH ROW EXECUTE FUNCTION faults.see_status();
  CREATE TRIGGER see AFTER UPDATE ON reservation
    FOR EACH ROW WHEN (NEW.credential_id IS NOT NULL) EXECUTE FUNCTION faults.see_status();
  CREATE TRIGGER see_new AFTER INSERT ON reservation
    FOR EACH ROW WHEN (NEW.credential_id IS NOT NULL) EXECUTE FUNCTION faults.see_status();
  CREATE TRIGGER see_removal AFTER DELETE ON reservation
    FOR EACH ROW WHEN (OLD.credential_id IS NOT NULL) EXECUTE FUNCTION faults.see_removal();
  CREATE TRIGGER see AFTER INSERT ON event FOR EACH ROW EXECUTE FUNCTION faults.see_event();
`;

/** Creates the schema and the triggers of `OBSERVATION` in the database. */
export async function observe(postgres: Database): Promise<void> {
  await postgres.query(OBSERVATION);
}

export interface Attempt {
  at: string;
  http_status: number | null;
  duration_ms: number | null;
  error: string | null;
}

/**
 * SQL expression of the attempts of the delivery `d`, as the API returns them. The column `attempt_count` increases before an attempt, and
 * the column `attempts` gets the outcome after it. So if `attempt_count` is larger than the number of outcomes, the service has not
 * recorded the outcome of the last attempt. The expression then adds this attempt without an outcome.
 */
export const ATTEMPTS = `
  d.attempts || CASE WHEN d.attempt_count > jsonb_array_length(d.attempts)
    THEN jsonb_build_array(jsonb_build_object('at', d.claimed_at, 'http_status', NULL, 'duration_ms', NULL, 'error', 'no_outcome'))
    ELSE '[]' END`;

/**
 * An event that was committed, even if its row is missing now. In that case, `credential_id`, `type` and `body` are null. The fields of the
 * delivery are null if the event has no delivery.
 */
export interface EventRow {
  id: string;
  tenant_id: string;
  tx: string;
  committed_at: Date;
  credential_id: string | null;
  type: string | null;
  body: string | null;
  delivery_status: string | null;
  attempt_count: number | null;
  attempts: Attempt[] | null;
}

/** Reads every event that was ever committed, with the time of its commit. */
export async function readEvents(postgres: Database): Promise<EventRow[]> {
  return await postgres.query<EventRow>(`
    SELECT seen.id, seen.tenant_id, seen.tx, pg_xact_commit_timestamp(seen.xmin) AS committed_at,
      e.credential_id, e.type, e.body, d.status AS delivery_status, d.attempt_count, ${ATTEMPTS} AS attempts
    FROM faults.event AS seen
    LEFT JOIN event AS e ON e.tenant_id = seen.tenant_id AND e.id = seen.id
    LEFT JOIN delivery AS d ON d.tenant_id = seen.tenant_id AND d.id = seen.id
    ORDER BY seen.id
  `);
}

export interface StatusChange {
  tenant_id: string;
  source: 'restaurant_order' | 'reservation';
  subject: string;
  status: string;
  is_new: boolean;
  tx: string;
}

export async function readChanges(postgres: Database): Promise<StatusChange[]> {
  return await postgres.query<StatusChange>('SELECT tenant_id, source, subject, status, is_new, tx FROM faults.change');
}
