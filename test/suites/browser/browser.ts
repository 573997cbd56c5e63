import { rmSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packaged from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Browser flags in addition to the flags of @sparticuz/chromium. They stop requests that the browser makes by itself. */
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
/** Host of this machine that a browser does not take for safe, unlike 127.0.0.1. So it is like a house that is called without HTTPS. */
export const PLAIN_HOST = 'house.test';
/**
 * Flags that switch off the two optimizing compilers of the browser. A page of these tests is open for only a few seconds, so compiling its
 * code costs more than the compiled code saves. Without the compilers, rendering and checking an API reference takes 27 % less CPU time.
 */
const FEW_COMPILERS = ['--js-flags=--no-opt,--no-maglev'];
/** Time limit in milliseconds for the start of a browser. The start takes many seconds if other tests need the processor too. */
const START_LIMIT_MS = 120_000;
/** Error messages of a browser that cannot start, because system libraries are missing or the browser was built for another processor. */
const CANNOT_RUN = /shared librar|missing dependencies|ENOEXEC|exec format/i;

/** An unpacked browser. It is removed from the disk when the process ends, because the test files of a process share it. */
interface TestBrowser {
  /** Opens a page in a new browser process, and records the problems of the page from its first request on. */
  open(options: BrowserContextOptions): Promise<WatchedPage>;
}

/**
 * Unpacks a browser and tests that it starts.
 * @returns the browser, or the reason why this machine cannot run a browser
 * @throws Error if the browser does not start on a CI machine, because CI must not skip the browser tests
 */
export async function findBrowser(): Promise<TestBrowser | string> {
  const folder = await mkdtemp(join(tmpdir(), 'roomservice-browser-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  try {
    const executablePath = await unpack(folder);
    // With the flags of @sparticuz/chromium, a browser is a single process, and this process ends when its first context closes. So each
    // page gets its own browser process.
    const args = [...packaged.args, ...QUIET, ...FEW_COMPILERS, `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`];
    const launch = () => chromium.launch({ executablePath, args, timeout: START_LIMIT_MS });
    await (await launch()).close();
    return { open: async (options) => await watch(await launch(), options) };
  } catch (error) {
    if (process.env['CI'] === undefined && error instanceof Error && CANNOT_RUN.test(error.message)) {
      return `This machine cannot run a browser: ${error.message.split('\n', 1)[0]}`;
    }
    throw error;
  }
}

/**
 * Sets TMPDIR so that @sparticuz/chromium unpacks the browser into `folder`. In the shared temporary folder, @sparticuz/chromium could use
 * a browser that another user has unpacked or that is incomplete.
 * @returns the path of the executable
 */
async function unpack(folder: string): Promise<string> {
  packaged.setGraphicsMode = false;
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    return await packaged.executablePath();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}

export interface WatchedPage {
  page: Page;
  /**
   * Returns the problems since the last call: errors and warnings of the console, failed requests, and requests to
   * another origin.
   */
  problems(): string[];
  close(): Promise<void>;
}

async function watch(browser: Browser, options: BrowserContextOptions): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const { origin } = new URL(options.baseURL ?? '');
  let found: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) found.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => found.push(`page: ${error.message}`));
  page.on('requestfailed', (request) => {
    // A page that is left ends its own requests.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') found.push(`failed: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) found.push(`${response.status()}: ${response.url()}`);
  });
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol !== 'data:' && asked !== origin) found.push(`outside: ${request.url()}`);
  });
  return {
    page,
    problems() {
      const problems = found;
      found = [];
      return problems;
    },
    close: () => browser.close(),
  };
}

/** Returns the width of the part of the page that is beyond the right edge of the window, in CSS pixels. */
export async function overflowPx(page: Page): Promise<number> {
  return Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'));
}

/** Shows the page in the given colour scheme, and waits until all animations have ended. */
export async function showIn(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  // This browser renders without a graphics card. A fade of ten thousand elements to their new colours would take ten seconds, so
  // transitions are off.
  await page.evaluate(`(() => {
    const atOnce = new CSSStyleSheet();
    atOnce.replaceSync('*, ::before, ::after { transition: none !important }');
    document.adoptedStyleSheets.push(atOnce);
  })()`);
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  // An element that appears later may start an animation later. So the script waits until five frames in a row have no animation.
  await page.evaluate(`(async () => {
    for (let calm = 0; calm < 5; calm += 1) {
      await new Promise(requestAnimationFrame);
      const moving = document.getAnimations().filter(({ effect, playState }) =>
        playState === 'running' && effect.getComputedTiming().endTime !== Infinity);
      if (moving.length > 0) {
        await Promise.allSettled(moving.map(({ finished }) => finished));
        calm = -1;
      }
    }
  })()`);
}

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
/** Accessibility rules whose result depends on the colours of the page. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

export interface AccessibilityCheck {
  /** CSS selector of the element to check. Default: the whole page. */
  within?: string;
  disabledRules?: string[];
  /** If true, checks only the accessibility rules that depend on colours, for example on the contrast. Default: false. */
  onlyColors?: boolean;
}

/**
 * Returns the first ten violations of the accessibility rules. Each violation is one line, which names the rule, the element and the fault.
 */
export async function accessibilityViolations(page: Page, options: AccessibilityCheck = {}): Promise<string[]> {
  const { within = ':root', disabledRules = [], onlyColors = false } = options;
  const rules = Object.fromEntries(disabledRules.map((rule) => [rule, { enabled: false }]));
  const axeOptions = JSON.stringify({ runOnly: onlyColors ? COLOR_RULES : RULES, rules, resultTypes: ['violations'] });
  if (!(await page.evaluate('"axe" in window'))) {
    await page.evaluate(AXE);
  }
  const lines = await page.evaluate(`axe.run(${JSON.stringify(within)}, ${axeOptions}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ': ' + failureSummary)).slice(0, 10))`);
  return lines as string[];
}
