import type { LinkProps } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { areasOf, type Area, type Feature, isOwner, type Me } from './api/session.ts';
import {
  AuditIcon,
  CalendarIcon,
  DeliveriesIcon,
  MenuIcon,
  OrdersIcon,
  PartnersIcon,
  PeopleIcon,
  SettingsIcon,
  StaysIcon,
  TodayIcon,
} from './ui/icons.tsx';

/** Groups of the sidebar, in its order. */
export const GROUPS = { house: 'Run the house', connect: 'Connect', keep: 'Keep the house' } as const;

export interface Screen {
  path: NonNullable<LinkProps['to']>;
  group: keyof typeof GROUPS;
  label: string;
  /** Second key after `g`. */
  key: string;
  icon: ComponentType<{ size?: number }>;
  isFor: (me: Me) => boolean;
}

const has = (area: Area, feature?: Feature) => (me: Me) =>
  areasOf(me).includes(area) && (feature === undefined || me.tenant.features.includes(feature));

/** Screens in the order of the sidebar, group by group. A person sees those that the API would answer. */
export const SCREENS: Screen[] = [
  { path: '/', group: 'house', label: 'Today', key: 't', icon: TodayIcon, isFor: () => true },
  { path: '/orders', group: 'house', label: 'Orders', key: 'o', icon: OrdersIcon, isFor: has('orders', 'restaurant') },
  { path: '/stays', group: 'house', label: 'Stays', key: 's', icon: StaysIcon, isFor: has('hotel', 'hotel') },
  { path: '/calendar', group: 'house', label: 'Calendar', key: 'c', icon: CalendarIcon, isFor: has('hotel', 'hotel') },
  { path: '/menu', group: 'house', label: 'Menu', key: 'm', icon: MenuIcon, isFor: has('menu', 'restaurant') },
  { path: '/partners', group: 'connect', label: 'Partners', key: 'p', icon: PartnersIcon, isFor: isOwner },
  {
    path: '/deliveries',
    group: 'connect',
    label: 'Deliveries',
    key: 'd',
    icon: DeliveriesIcon,
    isFor: has('deliveries'),
  },
  { path: '/audit', group: 'keep', label: 'Audit', key: 'a', icon: AuditIcon, isFor: isOwner },
  { path: '/people', group: 'keep', label: 'People', key: 'e', icon: PeopleIcon, isFor: isOwner },
  { path: '/settings', group: 'keep', label: 'Settings', key: ',', icon: SettingsIcon, isFor: () => true },
];
