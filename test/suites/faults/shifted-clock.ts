/**
 * Module that the flag `--import` of Node.js loads into a process of the service. At SIGUSR2 the wall clock jumps an hour ahead, and at the
 * next SIGUSR2 it jumps back. Timers and `performance.now()` do not change, because a real change of the machine's clock does not change
 * them either.
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
