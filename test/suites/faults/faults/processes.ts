import { setTimeout as sleep } from 'node:timers/promises';
import type { Hook } from '../receivers.ts';
import type { SurroundingsWorld } from '../surroundings.ts';
import { type Fault, type LinkedProcess, processesOf, waitUntil, type World } from '../world.ts';
import { causeEvent, untilServing } from './witness.ts';

/** Time limit until an API process serves again after kill -9. On slow machines, the limit is `QUIET_STARTS` instead. */
const SERVING_AGAIN_MS = 5_000;
/** Time limit on slow machines, as a multiple of the time that the start of an API process takes there without load. */
const QUIET_STARTS = 3;
const RETRIED_WITHIN_MS = 25_000;
const STOPPED_MS = 30_000;
/** Time after which a response of the receiver has certainly arrived at the worker. */
const ON_ITS_WAY_MS = 300;

/** Lets the workers and the receiver of the witness work as usual. */
async function releaseWitness({ workers, witness: { hook } }: World): Promise<void> {
  workers.forEach((worker) => worker.signal('SIGCONT'));
  workers.forEach(({ link }) => link.thaw());
  hook.answer = () => 204;
  hook.proxy.onConnection = () => {};
  hook.proxy.thaw();
}

/**
 * Returns a fault in which a worker is killed during a delivery. The other worker must retry the delivery, and the lost attempt must be
 * counted.
 * @param atMoment calls `kill` at the moment of the delivery at which the worker must be killed
 */
function killWorker(
  name: string,
  atMoment: (hook: Hook, kill: () => void, victim: LinkedProcess) => void,
): Fault<SurroundingsWorld> {
  return {
    name,
    interruptsDeliveries: true,
    isShort: name === 'kill-worker-bytes-out',
    async strike(world) {
      const [victim, other] = world.workers;
      const { promise: moment, resolve } = Promise.withResolvers<void>();
      // Only the worker that will be killed (`victim`) may claim the delivery, so the other worker is stopped.
      other.signal('SIGSTOP');
      atMoment(world.witness.hook, resolve, victim);
      const readDelivery = await causeEvent(world);
      await moment;
      await victim.kill();
      victim.link.cut();
      await releaseWitness(world);
      const starting = victim.start();
      const isDelivered = async () => (await readDelivery())?.status === 'delivered';
      const retriedMs = await waitUntil(isDelivered, 2 * RETRIED_WITHIN_MS, 50);
      world.findings.measure(`delivered again after ${name}`, retriedMs, RETRIED_WITHIN_MS);
      const attempts = (await readDelivery())?.attempt_count ?? 0;
      if (attempts < 2) {
        const seen = `${name}: ${attempts} attempts are counted, so the lost attempt is missing`;
        world.findings.violation('5 webhooks in the database', seen);
      }
      await starting;
    },
    heal: releaseWitness,
  };
}

/** Runs `work`, and reports the calls through the balancer that failed meanwhile. */
export async function withoutClientErrors(
  what: string,
  { history, findings }: World,
  work: () => Promise<void>,
): Promise<void> {
  const before = history.balancedFailures.length;
  await work();
  findings.breaches(`${what} without a client error`, history.balancedFailures.slice(before));
}

const JUMPING = ['api 2', 'worker 2'];

export const processFaults: Fault<SurroundingsWorld>[] = [
  /** Each API process is stopped by SIGTERM and started again during the load. No caller may get an error. */
  {
    name: 'rolling-restart',
    isShort: true,
    async strike(world) {
      await withoutClientErrors('rolling restart', world, async () => {
        for (const api of [...world.apis, ...world.apis]) {
          world.findings.measure('an API process ends after SIGTERM', await api.stop(), 15_000);
          await api.start();
          await sleep(1_000);
        }
      });
    },
  },
  /** Each API process is killed while it serves calls, and is immediately started again. */
  {
    name: 'kill-api',
    isShort: true,
    async strike(world) {
      // The first API process also applied the migrations at its start, so the fastest start counts.
      const quietStartMs = Math.min(...world.apis.map(({ firstStartMs }) => firstStartMs));
      const limitMs = Math.max(SERVING_AGAIN_MS, Math.round(QUIET_STARTS * quietStartMs));
      for (const api of world.apis) {
        await api.kill();
        await api.launch();
        world.findings.measure(
          'an API process serves again after kill -9',
          await untilServing(world, api, 4 * SERVING_AGAIN_MS),
          limitMs,
        );
        await sleep(1_000);
      }
    },
  },
  /** A process that runs the API and a worker claims the deliveries of its own events. After a kill, other processes must send them. */
  {
    name: 'kill-serve',
    interruptsDeliveries: true,
    async strike(world) {
      const serve = await world.newProcess('serve', []);
      world.balancer.add(serve.url);
      await sleep(4_000);
      await serve.kill();
      world.balancer.remove(serve.url);
      serve.link.close();
    },
  },
  killWorker('kill-worker-before-connecting', ({ proxy }, kill) => {
    // The TCP connection exists, but no byte of TLS or of the POST arrives.
    proxy.onConnection = () => {
      proxy.freeze();
      kill();
    };
  }),
  killWorker('kill-worker-bytes-out', (hook, kill) => {
    hook.answer = () => {
      kill();
      return 'hang';
    };
  }),
  killWorker('kill-worker-after-2xx', (hook, kill, victim) => {
    hook.answer = async () => {
      victim.link.freeze();
      setTimeout(kill, ON_ITS_WAY_MS);
      return 204;
    };
  }),
  /** A worker is stopped for longer than its lease. When it continues, it must not record the outcome of its attempt. */
  {
    name: 'stop-worker-30s',
    interruptsDeliveries: true,
    async strike(world) {
      const [victim, other] = world.workers;
      const { hook } = world.witness;
      const { promise: arrived, resolve } = Promise.withResolvers<void>();
      hook.answer = (_, postsBefore) => {
        resolve();
        return postsBefore === 0 ? 'hang' : 204;
      };
      other.signal('SIGSTOP');
      const readDelivery = await causeEvent(world);
      await arrived;
      victim.signal('SIGSTOP');
      other.signal('SIGCONT');
      const stoppedAtMs = performance.now();
      const isDelivered = async () => (await readDelivery())?.status === 'delivered';
      const retriedMs = await waitUntil(isDelivered, 2 * RETRIED_WITHIN_MS, 50);
      world.findings.measure('delivered by another worker while one is stopped', retriedMs, RETRIED_WITHIN_MS);
      await sleep(STOPPED_MS - (performance.now() - stoppedAtMs));
      const before = await readDelivery();
      victim.signal('SIGCONT');
      await sleep(2_000);
      const after = await readDelivery();
      if (JSON.stringify(before) !== JSON.stringify(after)) {
        const seen = `${JSON.stringify(before)} became ${JSON.stringify(after)}`;
        world.findings.violation('5 webhooks in the database', `a worker without its lease wrote: ${seen}`);
      }
    },
    heal: releaseWitness,
  },
  /** The clocks of one API process and one worker jump an hour ahead, and later back (`shifted-clock.ts`). */
  {
    name: 'clock-an-hour-off',
    async strike(world) {
      const jumping = processesOf(world).filter(({ name }) => JUMPING.includes(name));
      world.history.isClockOff = true;
      jumping.forEach((process) => process.signal('SIGUSR2'));
      await sleep(8_000);
      jumping.forEach((process) => process.signal('SIGUSR2'));
      await sleep(3_000);
    },
  },
];
