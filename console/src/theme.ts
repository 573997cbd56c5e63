import { colorsTuple, createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

const dark: MantineColorsTuple = [
  '#e7ecea',
  '#c3cdc9',
  '#9daaa5',
  '#75837d',
  '#3d4844',
  '#2a322f',
  '#1f2523',
  '#181d1b',
  '#111514',
  '#0c0f0e',
];

const gray: MantineColorsTuple = [
  '#f7f8f7',
  '#f0f2f1',
  '#e8eceb',
  '#e2e7e5',
  '#cbd3d0',
  '#8f9a95',
  '#75837d',
  '#586560',
  '#37423e',
  '#17211e',
];

const CLOSE = { 'aria-label': 'Close' };
/** Names of the arrows of a calendar. */
const CALENDAR = {
  previousMonth: 'Month before',
  nextMonth: 'Next month',
  previousYear: 'Year before',
  nextYear: 'Next year',
  previousDecade: 'Ten years before',
  nextDecade: 'Next ten years',
};

/** One accent, quiet greys with a trace of it, small radii. All else of the look is in `global.css` and the modules of the screens. */
export const theme = createTheme({
  // Its shades are the accents below.
  colors: { green: colorsTuple('#0b5d51'), gray, dark },
  primaryColor: 'green',
  primaryShade: { light: 7, dark: 6 },
  defaultRadius: 8,
  cursorType: 'pointer',
  fontFamily: 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650' },
  fontSizes: { xs: '0.75rem', sm: '0.875rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  components: {
    Code: { styles: { root: { borderRadius: 8 } } },
    Kbd: { styles: { root: { borderBottomWidth: 1, fontFamily: 'inherit', fontWeight: 400 } } },
    Notification: { styles: { description: { color: 'var(--rs-quiet)' } } },
    DatePickerInput: { defaultProps: { weekendDays: [], ariaLabels: CALENDAR } },
    Modal: {
      defaultProps: {
        centered: true,
        yOffset: '2dvh',
        overlayProps: { backgroundOpacity: 0.4 },
        closeButtonProps: CLOSE,
        // A dialog that still fades would take an Escape that is meant for the drawer below it.
        transitionProps: { duration: 100, exitDuration: 0 },
      },
      styles: { title: { fontWeight: 650 } },
    },
    Drawer: { defaultProps: { overlayProps: { backgroundOpacity: 0.15 }, closeButtonProps: CLOSE } },
  },
});

/** Our own colours, each in the light and in the dark scheme. */
const COLOURS = {
  page: ['#f7f8f7', '#111514'],
  surface: ['#ffffff', '#181d1b'],
  sunken: ['#f0f2f1', '#1f2523'],
  line: ['#e2e7e5', '#2a322f'],
  'line-strong': ['#cbd3d0', '#3d4844'],
  text: ['#17211e', '#e7ecea'],
  quiet: ['#586560', '#9daaa5'],
  accent: ['#0b5d51', '#6fd3bf'],
  'accent-filled': ['#0b5d51', '#177a6a'],
  'accent-filled-hover': ['#084c42', '#0b5d51'],
  'accent-soft': ['#e4f1ee', '#17332e'],
  'accent-hover': ['#d3e9e3', '#1d403a'],
  late: ['#b3261e', '#ff8a80'],
  'late-filled': ['#b3261e', '#a3271f'],
  'late-soft': ['#fbeceb', '#3a1b19'],
  warn: ['#8a5300', '#f0b35b'],
  'warn-soft': ['#fcf1dd', '#362812'],
  good: ['#17703f', '#6ecf97'],
  'good-soft': ['#e5f3ea', '#15301f'],
} as const;

/** What Mantine calls them. */
const MANTINE = {
  body: 'surface',
  text: 'text',
  dimmed: 'quiet',
  placeholder: 'quiet',
  'default-color': 'text',
  'default-border': 'line-strong',
  'default-hover': 'sunken',
  anchor: 'accent',
  error: 'late',
  'red-light-color': 'late',
  'green-filled': 'accent-filled',
  'green-filled-hover': 'accent-filled-hover',
  'green-light': 'accent-soft',
  'green-light-hover': 'accent-hover',
  'green-light-color': 'accent',
} as const;

function variablesOf(scheme: 0 | 1): Record<string, string> {
  const own = Object.entries(COLOURS).map(([name, pair]) => [`--rs-${name}`, pair[scheme]]);
  const mantine = Object.entries(MANTINE).map(([name, colour]) => [`--mantine-color-${name}`, COLOURS[colour][scheme]]);
  return Object.fromEntries([...own, ...mantine]);
}

export const resolveVariables: CSSVariablesResolver = () => ({
  variables: { '--mantine-text-wrap': 'pretty' },
  light: variablesOf(0),
  dark: variablesOf(1),
});
