import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * Returns the folder for the state of a command, according to the XDG Base Directory Specification. Returns null if `stateHome` is not an
 * absolute path, and the user has no home folder.
 * @param stateHome value of XDG_STATE_HOME
 */
export function findStateDir(stateHome = ''): string | null {
  const home = findHome();
  const parent = isAbsolute(stateHome) ? stateHome : home && join(home, '.local', 'state');
  return parent && join(parent, 'roomservice');
}

/** Returns the home folder, or null if neither HOME nor the list of users of the system has an absolute path for it. */
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
