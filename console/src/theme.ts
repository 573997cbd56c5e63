import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

const green: MantineColorsTuple = [
  '#eaf5f2',
  '#d3e9e3',
  '#a8d5ca',
  '#7bc0b0',
  '#52ab98',
  '#2f9482',
  '#177a6a',
  '#0b5d51',
  '#084c42',
  '#053a32',
];

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

const CLOSE = { 'aria-label': 'Close' };

/** One accent, quiet greys with a trace of it, small radii. All else of the look is in `global.css` and the modules of the screens. */
export const theme = createTheme({
  colors: { green, dark },
  primaryColor: 'green',
  primaryShade: { light: 7, dark: 6 },
  defaultRadius: 8,
  cursorType: 'pointer',
  fontFamily: 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650' },
  fontSizes: { xs: '0.75rem', sm: '0.875rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  components: {
    Button: { defaultProps: { size: 'sm' } },
    TextInput: { defaultProps: { size: 'sm' } },
    PasswordInput: { defaultProps: { size: 'sm' } },
    DatePickerInput: { defaultProps: { weekendDays: [] } },
    Modal: {
      defaultProps: {
        centered: true,
        yOffset: '2dvh',
        overlayProps: { backgroundOpacity: 0.4 },
        closeButtonProps: CLOSE,
        transitionProps: { duration: 100 },
      },
      styles: { title: { fontWeight: 650 } },
    },
    Drawer: { defaultProps: { overlayProps: { backgroundOpacity: 0.15 }, closeButtonProps: CLOSE } },
  },
});

const LIGHT = {
  '--rs-page': '#f7f8f7',
  '--rs-surface': '#ffffff',
  '--rs-sunken': '#f0f2f1',
  '--rs-line': '#e2e7e5',
  '--rs-line-strong': '#cbd3d0',
  '--rs-text': '#17211e',
  '--rs-quiet': '#586560',
  '--rs-accent': '#0b5d51',
  '--rs-accent-soft': '#e4f1ee',
  '--rs-late': '#b3261e',
  '--rs-late-soft': '#fbeceb',
  '--rs-warn': '#8a5300',
  '--rs-warn-soft': '#fcf1dd',
  '--rs-good': '#17703f',
  '--rs-good-soft': '#e5f3ea',
  '--mantine-color-red-light-color': '#b3261e',
  '--mantine-color-body': '#ffffff',
  '--mantine-color-text': '#17211e',
  '--mantine-color-dimmed': '#586560',
  '--mantine-color-placeholder': '#66736e',
  '--mantine-color-default-border': '#cbd3d0',
  '--mantine-color-error': '#b3261e',
  '--mantine-color-green-light': '#e4f1ee',
  '--mantine-color-green-light-hover': '#d3e9e3',
  '--mantine-color-green-light-color': '#0b5d51',
};

const DARK: typeof LIGHT = {
  '--rs-page': '#111514',
  '--rs-surface': '#181d1b',
  '--rs-sunken': '#1f2523',
  '--rs-line': '#2a322f',
  '--rs-line-strong': '#3d4844',
  '--rs-text': '#e7ecea',
  '--rs-quiet': '#9daaa5',
  '--rs-accent': '#6fd3bf',
  '--rs-accent-soft': '#17332e',
  '--rs-late': '#ff8a80',
  '--rs-late-soft': '#3a1b19',
  '--rs-warn': '#f0b35b',
  '--rs-warn-soft': '#362812',
  '--rs-good': '#6ecf97',
  '--rs-good-soft': '#15301f',
  '--mantine-color-red-light-color': '#ff8a80',
  '--mantine-color-body': '#181d1b',
  '--mantine-color-text': '#e7ecea',
  '--mantine-color-dimmed': '#9daaa5',
  '--mantine-color-placeholder': '#8b9893',
  '--mantine-color-default-border': '#3d4844',
  '--mantine-color-error': '#ff8a80',
  '--mantine-color-green-light': '#17332e',
  '--mantine-color-green-light-hover': '#1d403a',
  '--mantine-color-green-light-color': '#6fd3bf',
};

export const resolveVariables: CSSVariablesResolver = () => ({ variables: {}, light: LIGHT, dark: DARK });
