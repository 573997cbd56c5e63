import { useQuery } from '@tanstack/react-query';
import { read, SOON_MS } from '../../api/reads.ts';
import { useNow } from '../../live/clock.ts';
import { useFormat } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import classes from './refusals.module.css';

/** Calls of a partner that the service refused, in the words that the partner's developer sees. */
export function Refusals({ id }: { id: string }) {
  const query = useQuery({
    ...read('listRefusedCalls', { path: { id } }, ['credentials']),
    refetchInterval: SOON_MS,
  });
  const { moment } = useFormat();
  const now = useNow(10_000);
  return (
    <Loaded query={query} rows={2}>
      {(refusals) =>
        refusals.length === 0 ? (
          <p className="quiet">No call was refused.</p>
        ) : (
          <ul className={classes.list}>
            {refusals.map(({ id: key, method, path, at, status, code, message, request_id }) => (
              <li key={key}>
                <div className={classes.head}>
                  <code>
                    {method} {path}
                  </code>
                  <time dateTime={at}>{moment(at, now)}</time>
                </div>
                <strong>
                  {status} {code}
                </strong>
                : {message}
                <div className={classes.request}>Request {request_id}</div>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}
