/**
 * Statement that has one form for a single node and another form for a cluster, because the form for a cluster costs more than a tenth of an
 * operation (docs/decisions/0005-statements.md). The code of the service chooses the form with `isCluster`.
 */
interface TwoForms {
  /** Action of the statement, for example `writes rates`. Test messages contain this text. */
  name: string;
  /** Matches only the form for one node. A cluster refuses this form, or sends it to all nodes. */
  oneNode: RegExp;
  /** Matches only that form of the statement that the service uses on a cluster. */
  cluster: RegExp;
}

export const TWO_FORMS: TwoForms[] = [
  {
    name: 'writes rates',
    oneNode: /^MERGE INTO rate /s,
    cluster: /^insert into "rate" .* on conflict/s,
  },
  {
    name: 'writes events with their deliveries',
    oneNode: /^WITH receiver AS .*INSERT INTO event/s,
    cluster: /^INSERT INTO event \(/s,
  },
];
