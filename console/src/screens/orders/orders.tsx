import { Page } from '../../ui/page.tsx';

export function Orders() {
  return (
    <Page title="Orders" isLive>
      <p>…</p>
    </Page>
  );
}
