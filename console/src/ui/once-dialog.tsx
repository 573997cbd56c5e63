export * from './form.tsx';
