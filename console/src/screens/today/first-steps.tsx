import { Group, Text, ThemeIcon } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../../api/client.ts';
import { useMe } from '../../api/session.ts';
import { CheckIcon } from '../../ui/icons.tsx';
import { Section } from '../../ui/page.tsx';
import classes from './today.module.css';

interface Props {
  steps: NonNullable<Answer<'getToday'>['first_steps']>;
  partners: NonNullable<Answer<'getToday'>['partners']>;
}

/** The first day of an empty house: what to do first, until a partner has sent the first order or stay. */
export function FirstSteps({ steps, partners }: Props) {
  const hasRestaurant = useMe().tenant.features.includes('restaurant');
  const open = partners.find(({ has_webhook: has }) => !has)?.credential_id;
  return (
    <Section title="First steps">
      <ol className={`${classes.panel} ${classes.steps}`}>
        <Step number={1} isDone={steps.has_partner} title="Connect a partner">
          Whoever brings you orders or guests gets a key of its own.{' '}
          <Link to="/partners" search={{ new: '1' }}>
            Connect a partner
          </Link>
        </Step>
        <Step number={2} isDone={steps.has_webhook} title="Register its webhook">
          The address to which the partner wants its news sent.{' '}
          <Link to="/partners" search={open === undefined ? {} : { open }}>
            Open the partner
          </Link>
        </Step>
        <Step number={3} isDone={false} title={`Wait for the first ${hasRestaurant ? 'order' : 'stay'}`}>
          The partner’s developer sends it. It appears here by itself.{' '}
          <a href="/docs/guides/quick-start/">How to send one</a>
        </Step>
      </ol>
    </Section>
  );
}

interface StepProps {
  number: number;
  isDone: boolean;
  title: string;
  children: ReactNode;
}

function Step({ number, isDone, title, children }: StepProps) {
  return (
    <Group component="li" className={classes.cell} gap={12} wrap="nowrap" align="flex-start">
      <ThemeIcon size={24} radius="xl" fz={13} variant={isDone ? 'light' : 'default'}>
        {isDone ? <CheckIcon size={14} /> : number}
      </ThemeIcon>
      <div>
        <Text fw={600} c={isDone ? 'dimmed' : undefined}>
          {title}
          {isDone && ', done'}
        </Text>
        {!isDone && <p className="quiet">{children}</p>}
      </div>
    </Group>
  );
}
