import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link, Outlet, useMatches, useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { type Me, signOut, useMe } from './api/session.ts';
import { AskPassword } from './ask-password.tsx';
import { startLive } from './live/live.ts';
import { GROUPS, SCREENS, type Screen } from './screens.ts';
import classes from './shell.module.css';
import { type Command, useCommands } from './ui/commands.ts';
import { Empty } from './ui/empty.tsx';
import { ChevronIcon, MoreIcon, SearchIcon, SignOutIcon } from './ui/icons.tsx';
import { Page } from './ui/page.tsx';
import { MOD, openPalette, Palette } from './ui/palette.tsx';

/** Screens that a phone shows below. The rest is in "More". */
const BELOW = 4;

/** Frame of all screens behind the sign-in. */
export function Shell() {
  const me = useMe();
  const screens = SCREENS.filter(({ isFor }) => isFor(me));
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const here = useHere();
  useShellCommands(me);
  useEffect(() => {
    const ending = new AbortController();
    startLive(ending.signal);
    return () => ending.abort();
  }, []);
  return (
    <div className={classes.shell}>
      <a href="#content" className={classes.skip}>
        Skip to the content
      </a>
      <nav className={classes.nav} aria-label="Screens">
        <div className={classes.house}>
          <span className={classes.houseName}>{me.tenant.name}</span>
          {me.service.sandbox && <span className={classes.demo}>Demo</span>}
        </div>
        <UnstyledButton className={classes.search} onClick={openPalette}>
          <SearchIcon size={16} />
          <span>Find or do</span>
          <kbd>{MOD} K</kbd>
        </UnstyledButton>
        <div className={classes.screens}>
          {isPhone ? (
            <ScreenList label="Screens" screens={screens.slice(0, BELOW)} />
          ) : (
            [...Map.groupBy(screens, ({ group }) => group)].map(([group, inGroup]) => (
              <ScreenList key={group} label={GROUPS[group]} screens={inGroup} />
            ))
          )}
        </div>
        <SelfMenu me={me} isPhone={isPhone} more={isPhone ? screens.slice(BELOW) : screens.filter(isSettings)} />
      </nav>
      <main id="content" className={classes.main} tabIndex={-1}>
        {here === undefined || screens.includes(here) ? <Outlet /> : <NotForYou screen={here} />}
      </main>
      <Palette />
      <AskPassword />
    </div>
  );
}

function useHere(): Screen | undefined {
  const path = useMatches({ select: (matches) => matches.at(-1)?.fullPath });
  return SCREENS.find((screen) => screen.path === path);
}

function isSettings({ path }: Screen): boolean {
  return path === '/settings';
}

function ScreenList({ label, screens }: { label: string; screens: Screen[] }) {
  return (
    <ul className={classes.group} aria-label={label}>
      {screens.map(({ path, label: name, icon: Icon }) => (
        <li key={path}>
          <Link to={path} className={classes.screen} activeOptions={{ exact: path === '/', includeSearch: false }}>
            <Icon />
            <span>{name}</span>
          </Link>
        </li>
      ))}
    </ul>
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

function SelfMenu({ me, isPhone, more }: { me: Me; isPhone: boolean; more: Screen[] }) {
  const name = me.person?.name ?? me.person?.email ?? me.display?.label ?? '';
  const here = useHere();
  return (
    <Menu position="top-start" width={220}>
      <Menu.Target>
        <UnstyledButton className={classes.self} data-active={more.some((screen) => screen === here)}>
          <span className={classes.selfText}>
            <span className={classes.selfName}>{name}</span>
            <span className={classes.selfRole}>
              {me.person?.role === 'owner' ? 'Owner' : me.person ? 'Staff' : 'Display'}
            </span>
          </span>
          <span className={classes.selfMore}>
            <MoreIcon />
            <span>More</span>
          </span>
          <ChevronIcon size={14} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {more.map(({ path, label, icon: Icon }) => (
          <Menu.Item key={path} component={Link} to={path} leftSection={<Icon size={16} />}>
            {label}
          </Menu.Item>
        ))}
        {isPhone && <Menu.Divider />}
        {isPhone && (
          <Menu.Item leftSection={<SearchIcon size={16} />} onClick={openPalette}>
            Find or do
          </Menu.Item>
        )}
        <Menu.Item leftSection={<SignOutIcon size={16} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function useShellCommands(me: Me): void {
  const navigate = useNavigate();
  const { toggleColorScheme } = useMantineColorScheme();
  const commands = useMemo<Command[]>(
    () => [
      ...SCREENS.filter(({ isFor }) => isFor(me)).map(({ path, label, key }) => ({
        id: `go ${path}`,
        label: `Go to ${label}`,
        group: 'Screens',
        keys: `g ${key}`,
        run: () => void navigate({ to: path }),
      })),
      { id: 'theme', label: 'Switch between light and dark', group: 'Console', run: toggleColorScheme },
      { id: 'sign out', label: 'Sign out', group: 'Console', run: () => void signOut() },
    ],
    [me, navigate, toggleColorScheme],
  );
  useCommands(commands);
}
