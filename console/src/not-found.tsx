import { Link } from '@tanstack/react-router';
import { Empty } from './ui/empty.tsx';

export function NotFound() {
  return (
    <Empty title="There is no such page." action={<Link to="/">Go to Today</Link>}>
      The link may be old, or a part of it is missing.
    </Empty>
  );
}
