import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Returns the folder for the state of a command (XDG Base Directory Specification), or null without a home folder. */
export function findStateDir(stateHome = ''): string | null {
  const home = findHome();
  const parent = isAbsolute(stateHome) ? stateHome : home && join(home, '.local', 'state');
  return parent && join(parent, 'roomservice');
}

function findHome(): string | null {
  for (const find of [homedir, () => userInfo().homedir]) {
    try {
      const home = find();
      if (isAbsolute(home)) {
        return home;
      }
    } catch {
      // On a container platform, the process may run as a user that the system does not know.
    }
  }
  return null;
}
