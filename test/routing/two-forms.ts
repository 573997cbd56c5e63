/**
 * Statement that has one form for a single node and another form for a cluster. The code of the service chooses the form with `isCluster`
 * or `sharesOf`. On a cluster, `sharesOf` makes one statement for each tenant.
 */
export interface TwoForms {
  /** Action of the statement, for example `writes rates`. Test messages contain this text. */
  name: string;
  /** Matches only the form for one node. A cluster refuses this form, or sends it to all nodes. */
  oneNode: RegExp;
  /** Matches only that form of the statement that the service uses on a cluster. */
  cluster: RegExp;
}

export const TWO_FORMS: TwoForms[] = [
  {
    name: 'holds rooms on nights',
    oneNode: /^INSERT INTO night .*\(SELECT physical_capacity FROM room_type/s,
    cluster: /^INSERT INTO night .*array_position/s,
  },
  {
    name: 'writes rates',
    oneNode: /^MERGE INTO rate /s,
    cluster: /^insert into "rate" .* on conflict/s,
  },
  {
    name: 'writes events with their deliveries',
    oneNode: /^WITH receiver AS .*INSERT INTO event/s,
    cluster: /^INSERT INTO event \([^)]*\) VALUES/s,
  },
  {
    name: 'changes the status of an order',
    oneNode: /^WITH recorded AS \(\s*INSERT INTO order_status_change/s,
    cluster: /^INSERT INTO order_status_change/s,
  },
  {
    name: 'searches for due deliveries',
    oneNode: /^WITH RECURSIVE head .*FROM head CROSS JOIN LATERAL/s,
    cluster: /FROM credential AS c CROSS JOIN LATERAL \(\s*SELECT.* FROM delivery/s,
  },
  {
    name: 'reads the state of the queue of deliveries',
    oneNode: /^WITH RECURSIVE head .*AS "oldestDueSeconds"$/s,
    cluster: /^SELECT .*AS "oldestDueSeconds"\s+FROM/s,
  },
  {
    name: 'claims deliveries',
    oneNode: /^WITH wanted .*UPDATE delivery AS d .*"due"\."tenant_id"/s,
    cluster: /^WITH wanted .*UPDATE delivery AS d .*d\.tenant_id = \$/s,
  },
  {
    name: 'records the outcomes of attempts',
    oneNode: /^WITH o .*UPDATE delivery AS d .*"o"\."tenant_id"/s,
    cluster: /^WITH o .*UPDATE delivery AS d .*d\.tenant_id = \$/s,
  },
  {
    name: 'removes the oldest refused calls',
    oneNode: /^WITH oldest_kept .*"oldest_kept"\."tenant_id"/s,
    cluster: /^WITH oldest_kept .*c\.tenant_id = \$/s,
  },
  {
    name: 'writes the last use of credentials',
    oneNode: /^WITH used .*UPDATE credential AS c .*"used"\."tenant_id"/s,
    cluster: /^WITH used .*UPDATE credential AS c .*c\.tenant_id = \$/s,
  },
  {
    name: 'writes the last use of sessions',
    oneNode: /^WITH used .*UPDATE session AS s .*"used"\."tenant_id"/s,
    cluster: /^WITH used .*UPDATE session AS s .*s\.tenant_id = \$/s,
  },
  {
    name: 'writes when people were last seen',
    oneNode: /^WITH seen .*UPDATE app_user AS u .*"seen"\."tenant_id"/s,
    cluster: /^WITH seen .*UPDATE app_user AS u .*u\.tenant_id = \$/s,
  },
];
