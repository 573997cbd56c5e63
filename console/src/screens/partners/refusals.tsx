import { useQuery } from '@tanstack/react-query';
import { read, SOON_MS } from '../../api/reads.ts';
import { useNow } from '../../live/clock.ts';
import { Failure } from '../../ui/failure.tsx';
import { useFormat } from '../../ui/format.ts';
import classes from './refusals.module.css';

/** Calls of a partner that the service refused, in the words that the partner's developer sees. */
export function Refusals({ id }: { id: string }) {
  const { data, error } = useQuery({
    ...read('listRefusedCalls', { path: { id } }, ['credentials']),
    refetchInterval: SOON_MS,
  });
  const { moment } = useFormat();
  const now = useNow(10_000);
  if (error !== null && data === undefined) return <Failure error={error} />;
  if (data === undefined) return null;
  if (data.length === 0) return <p className={classes.none}>No call was refused.</p>;
  return (
    <ul className={classes.list}>
      {data.map((refusal) => (
        <li key={refusal.id}>
          <div className={classes.head}>
            <code>
              {refusal.method} {refusal.path}
            </code>
            <time dateTime={refusal.at}>{moment(refusal.at, now)}</time>
          </div>
          <div>
            <strong>
              {refusal.status} {refusal.code}
            </strong>
            : {refusal.message}
          </div>
          <div className={classes.request}>Request {refusal.request_id}</div>
        </li>
      ))}
    </ul>
  );
}
