export interface OneTimeLink {
  kind: 'invite' | 'reset' | 'welcome';
  token: string;
}

let taken: OneTimeLink | null = null;

/** Takes the token of a one-time link out of the address before anything else sees it: `#invite=…`, `#reset=…` or `#welcome=…`. */
export function takeLink(): void {
  const [, kind, token] = /^#(invite|reset|welcome)=([\w.~-]+)$/.exec(window.location.hash) ?? [];
  if (kind === undefined || token === undefined) {
    return;
  }
  taken = { kind: kind as OneTimeLink['kind'], token };
  window.history.replaceState(null, '', '/console/welcome');
}

export function heldLink(): OneTimeLink | null {
  return taken;
}
