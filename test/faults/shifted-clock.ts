/**
 * Loaded into a process of the service before anything else (`--import`): at SIGUSR2 its wall clock jumps an hour ahead, at the
 * next one back. Timers and `performance.now()` go on as they were, as they do where a machine's clock is set.
 */
const AHEAD_MS = 3_600_000;
const RealDate = Date;
let shiftMs = 0;

process.on('SIGUSR2', () => {
  shiftMs = shiftMs === 0 ? AHEAD_MS : 0;
});

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + shiftMs] : args, newTarget) as Date,
  apply: () => new RealDate(RealDate.now() + shiftMs).toString(),
  get: (target, name, receiver) =>
    name === 'now' ? () => RealDate.now() + shiftMs : (Reflect.get(target, name, receiver) as unknown),
});
