import type { Database } from './database.ts';

/**
 * Triggers that record each change of a status and each new event. No later transaction changes such a record, so its commit time is that of
 * the change. They run as the user of the suite, because the user of the service may not write to this schema.
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
 * SQL expression of the attempts of the delivery `d`, as the API returns them. `attempt_count` increases before an attempt, and `attempts`
 * gets its outcome. An attempt that has no outcome yet is added without one.
 */
export const ATTEMPTS = `
  d.attempts || CASE WHEN d.attempt_count > jsonb_array_length(d.attempts)
    THEN jsonb_build_array(jsonb_build_object('at', d.claimed_at, 'http_status', NULL, 'duration_ms', NULL, 'error', 'no_outcome'))
    ELSE '[]' END`;

/** An event that was committed. If its row is missing now, `credential_id` and `body` are null. */
export interface EventRow {
  id: string;
  tenant_id: string;
  tx: string;
  committed_at: Date;
  credential_id: string | null;
  body: string | null;
  delivery_status: string | null;
  attempt_count: number | null;
  attempts: Attempt[] | null;
}

/** Reads every event that was ever committed, with the time of its commit. */
export async function readEvents(postgres: Database): Promise<EventRow[]> {
  return await postgres.query<EventRow>(`
    SELECT seen.id, seen.tenant_id, seen.tx, pg_xact_commit_timestamp(seen.xmin) AS committed_at,
      e.credential_id, e.body, d.status AS delivery_status, d.attempt_count, ${ATTEMPTS} AS attempts
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
