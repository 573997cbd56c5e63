// This script starts Scalar, the viewer of the API reference. It switches off Scalar's proxy, telemetry, agent, web fonts and links to
// outside clients, so that Scalar sends no request to another service.
const mount = document.getElementById('content');

// The content security policy of the page allows a style element only if the element has the nonce of the page. Some parts of Scalar create
// style elements without a nonce, so every new style element gets the nonce here.
const { nonce } = document.currentScript;
const createElement = document.createElement.bind(document);
document.createElement = (...args) => {
  const element = createElement(...args);
  if (element instanceof HTMLStyleElement) {
    element.nonce = nonce;
  }
  return element;
};

// Attributes that screen readers and the keyboard need, but that Scalar leaves out or sets wrongly. Each entry has a selector, an attribute
// and its value. The value null removes the attribute. `repair` applies the entries after each change of the page.
const REPAIRS = [
  ['header', 'role', 'none'],
  ['.t-doc__header', 'role', 'region'],
  ['.t-doc__header', 'aria-label', 'Place in the document'],
  ['.response-card', 'role', 'group'],
  ['.endpoints', 'tabindex', '0'],
  ['.scalar-code-copy', 'aria-label', 'Copy'],
  ['.show-more', 'aria-label', null],
  ['[data-testid=response-variant-picker]', 'aria-label', null],
  ['.code-input-lite__editor', 'role', 'textbox'],
  ['.code-input-lite__editor', 'aria-label', 'Value'],
  ['.scalar-password-input', 'placeholder', 'yours'],
  ['[class*=copy-button]', 'aria-controls', null],
  ['[role=combobox]:not([aria-expanded])', 'aria-expanded', 'true'],
  ['.cm-scroller', 'tabindex', '0'],
  ['.cm-content', 'aria-label', 'Code'],
  ['button[role=none], button[role=alert]', 'role', null],
  ['section[aria-label^=Notifications]', 'role', 'status'],
];

function repair() {
  for (const [selector, attribute, value] of REPAIRS) {
    for (const element of mount.querySelectorAll(selector)) {
      if (value === null) {
        element.removeAttribute(attribute);
      } else if (element.getAttribute(attribute) !== value) {
        element.setAttribute(attribute, value);
      }
    }
  }
}
new MutationObserver(repair).observe(mount, { childList: true, subtree: true });

const sources = JSON.parse(mount.dataset.sources);
const documents = sources.map(({ url }) => new URL(url, window.location.href).href);

// Scalar sends every parameter that has an example, also an optional one. This function changes the OpenAPI document before Scalar reads
// it. Scalar then still shows the example of an optional parameter, but sends the parameter only if the reader selects it.
async function fetchForScalar(...args) {
  const answer = await fetch(...args);
  if (!documents.includes(answer.url)) {
    return answer;
  }
  const document = await answer.json();
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    if (!parameter.required) {
      parameter.examples = { example: { value: parameter.example, 'x-disabled': true } };
      delete parameter.example;
    }
  }
  return Response.json(document);
}

// The browser runs Scalar's own script after this script. So this script starts Scalar at `DOMContentLoaded`, when both scripts have run.
document.addEventListener('DOMContentLoaded', () => {
  Scalar.createApiReference(mount, {
    sources,
    customFetch: fetchForScalar,
    servers: [{ url: window.location.origin }],
    proxyUrl: '',
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    withDefaultFonts: false,
    hideClientButton: true,
    hideDarkModeToggle: true,
    showDeveloperTools: 'never',
    defaultOpenAllTags: true,
    modelsSectionLabel: 'Schemas',
    localization: { translations: { apiClient: { authSelector: { selectedType: '{type}' } } } },
    theme: 'none',
  });
});
