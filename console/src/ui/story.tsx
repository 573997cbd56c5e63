import { areasOf, useMe } from '../api/session.ts';
import { EventDeliveries } from '../screens/deliveries/event-deliveries.tsx';
import { History, type Step } from './history.tsx';
import { Section } from './page.tsx';

interface Props {
  id: string;
  /** Null: no partner hears of it. */
  credentialId: string | null;
  steps: Step[] | undefined;
  /** Steps of which the partner hears. */
  told: Step[] | undefined;
}

/** Last parts of a drawer: what happened to an order or a stay, and what its partner was told. */
export function Story({ id, credentialId, steps, told }: Props) {
  const mayReadDeliveries = areasOf(useMe()).includes('deliveries');
  return (
    <>
      <Section title="History">
        <History steps={steps} />
      </Section>
      {mayReadDeliveries && credentialId !== null && (
        <Section title="Told to the partner">
          <EventDeliveries id={id} credentialId={credentialId} steps={told} />
        </Section>
      )}
    </>
  );
}
