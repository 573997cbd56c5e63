interface OneTimeLink {
  kind: 'invite' | 'reset' | 'welcome';
  token: string;
}

/** The one-time link that the page was opened with: `#invite=…`, `#reset=…` or `#welcome=…`. */
export const oneTimeLink = takeLink();

/** Takes the token out of the address before anything else sees it. */
function takeLink(): OneTimeLink | null {
  const [, kind, token] = /^#(invite|reset|welcome)=([\w.~-]+)$/.exec(window.location.hash) ?? [];
  if (token === undefined) return null;
  window.history.replaceState(null, '', '/console/welcome');
  return { kind: kind as OneTimeLink['kind'], token };
}
