import { useNow } from '../live/clock.ts';
import { formatAge } from './format.ts';

/** How long ago something was, kept up to date, or a word for what has never been. */
export function Ago({ at, never = 'never' }: { at: string | null; never?: string }) {
  const now = useNow(10_000);
  return <>{at === null ? never : `${formatAge(now - Date.parse(at))} ago`}</>;
}
