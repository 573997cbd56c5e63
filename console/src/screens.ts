import type { ComponentType } from 'react';
import { areasOf, type Area, type Feature, isOwner, type Me } from './api/session.ts';
import { CalendarIcon, DeliveriesIcon, OrdersIcon, PartnersIcon, TodayIcon } from './ui/icons.tsx';

export interface Screen {
  path: '/' | '/orders' | '/calendar' | '/partners' | '/deliveries';
  label: string;
  /** Second key after `g`. */
  key: string;
  icon: ComponentType<{ size?: number }>;
  isFor: (me: Me) => boolean;
}

const has = (area: Area, feature?: Feature) => (me: Me) =>
  areasOf(me).includes(area) && (feature === undefined || me.tenant.features.includes(feature));

/** Screens in the order of the sidebar. A person sees those that the API would answer. */
export const SCREENS: Screen[] = [
  { path: '/', label: 'Today', key: 't', icon: TodayIcon, isFor: () => true },
  { path: '/orders', label: 'Orders', key: 'o', icon: OrdersIcon, isFor: has('orders', 'restaurant') },
  { path: '/calendar', label: 'Calendar', key: 'c', icon: CalendarIcon, isFor: has('hotel', 'hotel') },
  { path: '/partners', label: 'Partners', key: 'p', icon: PartnersIcon, isFor: isOwner },
  { path: '/deliveries', label: 'Deliveries', key: 'd', icon: DeliveriesIcon, isFor: has('deliveries') },
];
