import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { type Me, signOut, useMe } from './api/session.ts';
import { AskPassword } from './ask-password.tsx';
import { startLive } from './live/live.ts';
import { type Screen, SCREENS } from './screens.ts';
import classes from './shell.module.css';
import { type Command, useCommands } from './ui/commands.ts';
import { ChevronIcon, KeyboardIcon, MoreIcon, SearchIcon, SignOutIcon, ThemeIcon } from './ui/icons.tsx';
import { openPalette, Palette } from './ui/palette.tsx';

/** Screens that have a place in the bar of a phone. The styles hide the others there. */
const PHONE_SCREENS = 4;

/** Frame of all screens behind the sign-in. */
export function Shell() {
  const me = useMe();
  const screens = SCREENS.filter(({ isFor }) => isFor(me));
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
          <kbd>Ctrl K</kbd>
        </UnstyledButton>
        <ul className={classes.screens}>
          {screens.map(({ path, label, icon: Icon }) => (
            <li key={path}>
              <Link to={path} className={classes.screen} activeOptions={{ exact: path === '/', includeSearch: false }}>
                <Icon />
                <span>{label}</span>
              </Link>
            </li>
          ))}
        </ul>
        <SelfMenu me={me} rest={screens.slice(PHONE_SCREENS)} />
      </nav>
      <main id="content" className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
      <Palette />
      <AskPassword />
    </div>
  );
}

/** The person, and what has no place in the bar. On a phone, these are also the screens after the first four. */
function SelfMenu({ me, rest }: { me: Me; rest: Screen[] }) {
  const navigate = useNavigate();
  const { toggleColorScheme } = useMantineColorScheme();
  const name = me.person?.name ?? me.person?.email ?? me.display?.label ?? '';
  return (
    <Menu position="top-start" width={220}>
      <Menu.Target>
        <UnstyledButton className={classes.self}>
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
        {rest.map(({ path, label, icon: Icon }) => (
          <Menu.Item
            key={path}
            className={classes.phoneOnly}
            leftSection={<Icon size={16} />}
            onClick={() => void navigate({ to: path })}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Item leftSection={<ThemeIcon size={16} />} onClick={toggleColorScheme}>
          Light or dark
        </Menu.Item>
        <Menu.Item leftSection={<KeyboardIcon size={16} />} onClick={openPalette}>
          Find or do
        </Menu.Item>
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
