import { Page } from '../../ui/page.tsx';

export function Partners() {
  return (
    <Page title="Partners" isLive>
      <p>…</p>
    </Page>
  );
}
