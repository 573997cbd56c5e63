import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMe } from '../../api/session.ts';
import { CheckIcon } from '../../ui/icons.tsx';
import { Section } from '../../ui/page.tsx';
import classes from './first-steps.module.css';
import type { TodayData } from './today-data.ts';

interface Props {
  steps: NonNullable<TodayData['first_steps']>;
  partners: NonNullable<TodayData['partners']>;
}

/** The first day of an empty house: what to do first, until a partner has sent the first order or stay. */
export function FirstSteps({ steps, partners }: Props) {
  const hasRestaurant = useMe().tenant.features.includes('restaurant');
  const open = partners.find(({ has_webhook: has }) => !has)?.credential_id;
  const first = hasRestaurant ? 'first order' : 'first stay';
  return (
    <Section title="First steps">
      <ol className={classes.steps}>
        <Step isDone={steps.has_partner} title="Connect a partner">
          Whoever brings you orders or guests gets a key of its own.{' '}
          <Link to="/partners" search={{ new: '1' }}>
            Connect a partner
          </Link>
        </Step>
        <Step isDone={steps.has_webhook} title="Register its webhook">
          The address to which the partner wants its news sent.{' '}
          <Link to="/partners" search={open === undefined ? {} : { open }}>
            Open the partner
          </Link>
        </Step>
        <Step isDone={steps.has_booking} title={`Wait for the ${first}`}>
          The partner’s developer sends it. It appears here by itself.{' '}
          <a href="/docs/guides/quick-start/">How to send one</a>
        </Step>
      </ol>
    </Section>
  );
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: ReactNode }) {
  return (
    <li className={classes.step} data-done={isDone || undefined}>
      <span className={classes.mark}>{isDone && <CheckIcon size={14} />}</span>
      <span>
        <span className={classes.title}>
          {title}
          {isDone && <span className={classes.done}>done</span>}
        </span>
        {!isDone && <span className={classes.text}>{children}</span>}
      </span>
    </li>
  );
}
