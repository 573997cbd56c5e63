import { Flex, Group, Text, ThemeIcon } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../../api/client.ts';
import { areasOf, useMe } from '../../api/session.ts';
import { menuQuery } from '../../ui/dishes.ts';
import { CheckIcon } from '../../ui/icons.tsx';
import { Section } from '../../ui/page.tsx';
import classes from './today.module.css';

interface Props {
  steps: NonNullable<Answer<'getToday'>['first_steps']>;
  partners: NonNullable<Answer<'getToday'>['partners']>;
}

/** The first day of an empty house: what to do first, until a partner has sent the first order or stay. */
export function FirstSteps({ steps, partners }: Props) {
  const me = useMe();
  const hasRestaurant = me.tenant.features.includes('restaurant');
  const { data: menu } = useQuery({ ...menuQuery, enabled: hasRestaurant && areasOf(me).includes('menu') });
  const open = partners.find(({ has_webhook: has }) => !has)?.credential_id;
  return (
    <Section title="First steps">
      <Flex component="ol" wrap="wrap" className={classes.panel}>
        {menu && (
          <Step isDone={menu.dishes.length > 0} title="Import a menu">
            Until there are dishes, partners can order nothing. <Link to="/menu">Import a menu</Link>
          </Step>
        )}
        <Step isDone={steps.has_partner} title="Connect a partner">
          Whoever brings you orders or guests gets a key of its own.{' '}
          <Link to="/partners" search={{ new: '1' }}>
            Connect a partner
          </Link>
        </Step>
        <Step isDone={steps.has_webhook} title="Register its webhook">
          The address to which the partner wants its news sent.{' '}
          {steps.has_partner && (
            <Link to="/partners" search={{ open }}>
              Open the partner
            </Link>
          )}
        </Step>
        <Step isDone={steps.has_booking} title={`Wait for the first ${hasRestaurant ? 'order' : 'stay'}`}>
          The partner’s developer sends it. It appears here by itself.{' '}
          <a href="/docs/guides/quick-start/">How to send one</a>
        </Step>
      </Flex>
    </Section>
  );
}

interface StepProps {
  isDone: boolean;
  title: string;
  children: ReactNode;
}

function Step({ isDone, title, children }: StepProps) {
  return (
    <Group component="li" flex="1 1 240px" px={16} py={14} gap={12} wrap="nowrap" align="flex-start">
      <ThemeIcon size={24} radius="xl" variant={isDone ? 'light' : 'default'}>
        {isDone && <CheckIcon size={14} />}
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
