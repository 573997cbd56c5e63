import { AppShell, Badge, Box, Button, Group, Kbd, Menu, NavLink, Text, useMantineColorScheme } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link, type LinkProps, Outlet, useMatches, useNavigate, useRouter } from '@tanstack/react-router';
import { type ComponentType, useEffect } from 'react';
import { type Area, areasOf, type Feature, isOwner, type Me, signOut, useMe } from './api/session.ts';
import { AskPassword } from './ask-password.tsx';
import { startLive } from './live/live.ts';
import { useCommands } from './ui/commands.ts';
import { Empty } from './ui/loaded.tsx';
import {
  AuditIcon,
  CalendarIcon,
  ChevronIcon,
  DeliveriesIcon,
  MenuIcon,
  MoreIcon,
  OrdersIcon,
  PartnersIcon,
  PeopleIcon,
  SearchIcon,
  SettingsIcon,
  SignOutIcon,
  StaysIcon,
  TodayIcon,
} from './ui/icons.tsx';
import { Page } from './ui/page.tsx';
import { MOD, openPalette, Palette } from './ui/palette.tsx';

interface Screen {
  path: NonNullable<LinkProps['to']>;
  group: keyof typeof GROUPS;
  label: string;
  /** Second key after `g`. */
  key: string;
  icon: ComponentType<{ size?: number }>;
  isFor: (me: Me) => boolean;
}

/** Groups of the sidebar, in its order. */
const GROUPS = { house: 'Run the house', connect: 'Connect', keep: 'Keep the house' };

const has = (area: Area, feature?: Feature) => (me: Me) =>
  areasOf(me).includes(area) && (feature === undefined || me.tenant.features.includes(feature));

/** Screens in the order of the sidebar, group by group. A person sees those that the API would answer. */
const SCREENS: Screen[] = [
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

/** Screens that a phone shows below. The rest is in "More". */
const BELOW = 4;
/** The first screen has this time for itself, before the code of the others is loaded. */
const FIRST_MS = 1_000;

export function Shell() {
  const me = useMe();
  const screens = SCREENS.filter(({ isFor }) => isFor(me));
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const here = useHere();
  useShellCommands(screens);
  useLoading();
  useEffect(() => {
    const ending = new AbortController();
    startLive(ending.signal);
    return () => ending.abort();
  }, []);
  return (
    <AppShell
      navbar={isPhone ? undefined : { width: 232, breakpoint: 0 }}
      footer={isPhone ? { height: 60 } : undefined}
      transitionDuration={0}
    >
      <Button component="a" href="#content" className="visually-hidden" pos="fixed" m={8} style={{ zIndex: 300 }}>
        Skip to the content
      </Button>
      {isPhone ? <ScreensBelow screens={screens} /> : <Sidebar screens={screens} />}
      <AppShell.Main id="content" tabIndex={-1} pb={0} style={{ outline: 0 }}>
        {here === undefined || screens.includes(here) ? <Outlet /> : <NotForYou screen={here} />}
      </AppShell.Main>
      <Palette />
      <AskPassword />
    </AppShell>
  );
}

function useHere(): Screen | undefined {
  const path = useMatches({ select: (matches) => matches.at(-1)?.fullPath });
  return SCREENS.find((screen) => screen.path === path);
}

/** Loads all screens in good time. One that is first opened while the service is away would end the page, and what waits to be sent. */
function useLoading(): void {
  const router = useRouter();
  useEffect(() => {
    const load = () => Object.values(router.routesByPath).map((route) => router.loadRouteChunk(route));
    const timer = setTimeout(load, FIRST_MS);
    return () => clearTimeout(timer);
  }, [router]);
}

/** `screens`: those that the person may use. */
function Sidebar({ screens }: { screens: Screen[] }) {
  const { tenant, service, person, display } = useMe();
  const role = person === null ? 'Display' : { owner: 'Owner', staff: 'Staff' }[person.role];
  return (
    <AppShell.Navbar aria-label="Screens" p="18px 12px 12px" bg="var(--rs-page)">
      <Group gap={8} px={10} pb={14} wrap="nowrap">
        <Text fw={650} truncate>
          {tenant.name}
        </Text>
        {service.sandbox && (
          <Badge variant="default" size="sm" flex="none" tt="none" fw={400} c="dimmed">
            Demo
          </Badge>
        )}
      </Group>
      <Button
        variant="default"
        justify="flex-start"
        mb={14}
        px={10}
        c="dimmed"
        fw={400}
        leftSection={<SearchIcon size={16} />}
        rightSection={<Kbd fz={11}>{MOD} K</Kbd>}
        styles={{ label: { flex: 1 } }}
        onClick={openPalette}
      >
        Find or do
      </Button>
      <Box flex={1} mih={0} mx={-12} px={12} style={{ overflowY: 'auto' }}>
        {[...Map.groupBy(screens, ({ group }) => group)].map(([group, inGroup]) => (
          <Box key={group} mb={16} role="group" aria-label={GROUPS[group]}>
            {inGroup.map((screen) => (
              <ScreenLink key={screen.path} screen={screen} />
            ))}
          </Box>
        ))}
      </Box>
      <Menu position="top-start" width={220}>
        <Menu.Target>
          <NavLink
            component="button"
            bdrs={8}
            noWrap
            label={person?.name ?? person?.email ?? display?.label}
            description={role}
            rightSection={<ChevronIcon size={14} />}
          />
        </Menu.Target>
        <Menu.Dropdown>
          <SignOutItem />
        </Menu.Dropdown>
      </Menu>
    </AppShell.Navbar>
  );
}

/** Looks of an item below: its icon over its word. */
const BELOW_STYLES = {
  root: { flexDirection: 'column', gap: 2, padding: 6 },
  section: { margin: 0 },
  label: { fontSize: '0.6875rem' },
} as const;

/** The first screens and "More" in reach of a thumb. */
function ScreensBelow({ screens }: { screens: Screen[] }) {
  const more = screens.slice(BELOW);
  const here = useHere();
  const isMore = here !== undefined && more.includes(here);
  return (
    <AppShell.Footer p={4}>
      <Group component="nav" aria-label="Screens" grow gap={0} wrap="nowrap">
        {screens.slice(0, BELOW).map((screen) => (
          <ScreenLink key={screen.path} screen={screen} styles={BELOW_STYLES} />
        ))}
        <Menu position="top-end" width={220}>
          <Menu.Target>
            <NavLink
              component="button"
              {...looksOf(isMore)}
              active={isMore}
              styles={BELOW_STYLES}
              label="More"
              leftSection={<MoreIcon />}
            />
          </Menu.Target>
          <Menu.Dropdown>
            {more.map(({ path, label, icon: Icon }) => (
              <Menu.Item key={path} component={Link} to={path} leftSection={<Icon size={16} />}>
                {label}
              </Menu.Item>
            ))}
            <Menu.Divider />
            <Menu.Item leftSection={<SearchIcon size={16} />} onClick={openPalette}>
              Find or do
            </Menu.Item>
            <SignOutItem />
          </Menu.Dropdown>
        </Menu>
      </Group>
    </AppShell.Footer>
  );
}

function ScreenLink({ screen, styles }: { screen: Screen; styles?: typeof BELOW_STYLES }) {
  const { path, label, icon: Icon } = screen;
  return (
    <NavLink
      component={Link}
      to={path}
      activeOptions={{ exact: true, includeSearch: false }}
      {...looksOf(useHere() === screen)}
      styles={styles}
      label={label}
      leftSection={<Icon />}
    />
  );
}

function looksOf(isHere: boolean) {
  return { bdrs: 8, mb: 2, ...(isHere ? { fw: 600 } : { c: 'dimmed' }) };
}

function SignOutItem() {
  return (
    <Menu.Item leftSection={<SignOutIcon size={16} />} onClick={() => void signOut()}>
      Sign out
    </Menu.Item>
  );
}

/** In place of a screen that the person may not see, or may see no longer. */
function NotForYou({ screen: { label } }: { screen: Screen }) {
  return (
    <Page title={label}>
      <div role="status">
        <Empty title="You may not use this screen" action={<Link to="/">Go to Today</Link>}>
          Your account does not have the area for {label}. An owner of the house can give it to you.
        </Empty>
      </div>
    </Page>
  );
}

function useShellCommands(screens: Screen[]): void {
  const navigate = useNavigate();
  const { toggleColorScheme } = useMantineColorScheme();
  useCommands(
    'Screens',
    screens.map(({ path, label, key }) => [`g ${key}`, `Go to ${label}`, () => void navigate({ to: path })]),
  );
  useCommands('Console', [
    [undefined, 'Switch between light and dark', toggleColorScheme],
    [undefined, 'Sign out', () => void signOut()],
  ]);
}
