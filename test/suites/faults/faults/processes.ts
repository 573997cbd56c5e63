import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from '../service-process.ts';
import { processesOf, type World, waitUntil } from '../world.ts';
import type { SurroundingsWorld } from '../surroundings.ts';
import type { Fault } from './fault.ts';
import { causeEvent } from './witness.ts';

/** Time limit in milliseconds until an API process serves again after kill -9. On slow machines, the limit is `QUIET_STARTS` instead. */
const SERVING_AGAIN_MS = 5_000;
/**
 * Time limit on slow machines, as a multiple of the time that the start of an API process takes there without load. After kill -9, the
 * process starts under load, so its start takes longer.
 */
const QUIET_STARTS = 3;
const RETRIED_WITHIN_MS = 25_000;
const STOPPED_MS = 30_000;
/** Time after which a response of the receiver has certainly arrived at the worker. */
const ON_ITS_WAY_MS = 300;

/** Each API process is killed while it serves calls, and is immediately started again. */
const killApi: Fault<SurroundingsWorld> = {
  name: 'kill-api',
  isShort: true,
  async strike(world) {
    // The first API process also applied the migrations at its start, so the fastest start counts.
    const quietStartMs = Math.min(...world.apis.map(({ firstStartMs }) => firstStartMs));
    const limitMs = Math.max(SERVING_AGAIN_MS, Math.round(QUIET_STARTS * quietStartMs));
    for (const api of world.apis) {
      await api.kill();
      await api.launch();
      world.findings.measure('an API process serves again after kill -9', await untilServing(world, api), limitMs);
      await sleep(1_000);
    }
  },
};

async function untilServing({ client, witness }: World, api: ServiceProcess): Promise<number | undefined> {
  const { tenant, headers } = witness.partner;
  const request = { method: 'GET', path: '/v1/third-party/hotels/rooms/', options: { headers } };
  const serves = async () => (await client.try(tenant, request, api.url))?.status === 200;
  return await waitUntil(serves, 4 * SERVING_AGAIN_MS);
}

/**
 * Returns a fault in which a worker is killed during a delivery. The other worker must retry the delivery, and the lost attempt must be
 * counted.
 * @param untilMoment returns a promise that resolves when the worker must be killed
 */
function killWorker(
  name: string,
  untilMoment: (world: World, victim: ServiceProcess) => Promise<void>,
): Fault<SurroundingsWorld> {
  return {
    name,
    interruptsDeliveries: true,
    isShort: name === 'kill-worker-bytes-out',
    async strike(world) {
      const [victim, other] = world.workers;
      const { hook } = world.witness;
      // Only the worker that will be killed (`victim`) may claim the delivery, so the other worker is stopped.
      other.signal('SIGSTOP');
      const order = await untilInHand(world, victim, untilMoment);
      await victim.kill();
      victim.link.cut();
      victim.link.thaw();
      const killedAtMs = performance.now();
      other.signal('SIGCONT');
      hook.answer = () => 204;
      hook.proxy.onConnection = async () => {};
      const starting = victim.start();
      const isDelivered = async () => (await order.read())?.status === 'delivered';
      const retriedMs = await waitUntil(isDelivered, 2 * RETRIED_WITHIN_MS, 50);
      world.findings.measure(`delivered again after ${name}`, retriedMs, RETRIED_WITHIN_MS);
      const attempts = (await order.read())?.attempt_count ?? 0;
      if (attempts < 2) {
        world.findings.violation(
          '5 webhooks in the database',
          `${name}: ${attempts} attempts are counted, so the lost attempt is missing`,
        );
      }
      world.findings.note(`${Math.round(performance.now() - killedAtMs)} ms after the kill, ${attempts} attempts`);
      await starting;
    },
    async heal(world) {
      world.workers[1].signal('SIGCONT');
      world.workers[0].link.thaw();
      world.witness.hook.answer = () => 204;
      world.witness.hook.proxy.onConnection = async () => {};
    },
  };
}

async function untilInHand(
  world: World,
  victim: ServiceProcess,
  untilMoment: (world: World, victim: ServiceProcess) => Promise<void>,
) {
  const moment = untilMoment(world, victim);
  const order = await causeEvent(world);
  await moment;
  return order;
}

const killWorkerBeforeConnecting = killWorker('kill-worker-before-connecting', async ({ witness: { hook } }) => {
  // The worker is killed as soon as the TCP connection exists, before a byte of TLS or of the POST is sent.
  await new Promise<void>((resolve) => {
    hook.proxy.onConnection = async () => {
      resolve();
      await sleep(1_000);
    };
  });
});

const killWorkerBytesOut = killWorker('kill-worker-bytes-out', async ({ witness: { hook } }) => {
  await new Promise<void>((resolve) => {
    hook.answer = () => {
      resolve();
      return 'hang';
    };
  });
});

const killWorkerAfter2xx = killWorker('kill-worker-after-2xx', async ({ witness: { hook } }, victim) => {
  await new Promise<void>((resolve) => {
    hook.answer = async () => {
      victim.link.freeze();
      setTimeout(resolve, ON_ITS_WAY_MS);
      return 204;
    };
  });
});

/**
 * A process that runs the API and a worker is killed. Such a process claims the deliveries of the events that it writes. After its end,
 * other processes must send the deliveries that it has claimed but not sent.
 */
const killServe: Fault<SurroundingsWorld> = {
  name: 'kill-serve',
  interruptsDeliveries: true,
  async strike(world) {
    const serve = await world.newProcess('serve', null);
    world.balancer.add(serve.url);
    await sleep(4_000);
    await serve.kill();
    world.balancer.remove(serve.url);
    serve.link.close();
  },
};

/**
 * A worker is stopped for longer than its lease, and then continues. It must not record the outcome of its attempt, because the lease has
 * ended.
 */
const stopWorker: Fault<SurroundingsWorld> = {
  name: 'stop-worker-30s',
  interruptsDeliveries: true,
  async strike(world) {
    const [victim, other] = world.workers;
    const { hook } = world.witness;
    let isFirst = true;
    other.signal('SIGSTOP');
    const arrived = new Promise<void>((resolve) => {
      hook.answer = () => {
        resolve();
        const answer = isFirst ? 'hang' : 204;
        isFirst = false;
        return answer;
      };
    });
    const order = await causeEvent(world);
    await arrived;
    victim.signal('SIGSTOP');
    other.signal('SIGCONT');
    const stoppedAtMs = performance.now();
    const isDelivered = async () => (await order.read())?.status === 'delivered';
    const retriedMs = await waitUntil(isDelivered, 2 * RETRIED_WITHIN_MS, 50);
    world.findings.measure('delivered by another worker while one is stopped', retriedMs, RETRIED_WITHIN_MS);
    await sleep(STOPPED_MS - (performance.now() - stoppedAtMs));
    const before = await order.read();
    victim.signal('SIGCONT');
    await sleep(2_000);
    const after = await order.read();
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      const seen = `${JSON.stringify(before)} became ${JSON.stringify(after)}`;
      world.findings.violation('5 webhooks in the database', `a worker without its lease wrote: ${seen}`);
    }
    hook.answer = () => 204;
  },
  async heal(world) {
    world.workers.forEach((worker) => worker.signal('SIGCONT'));
    world.witness.hook.answer = () => 204;
  },
};

/** Each API process is stopped by SIGTERM and started again during the load. No caller may get an error. */
const rollingRestart: Fault<SurroundingsWorld> = {
  name: 'rolling-restart',
  isShort: true,
  async strike(world) {
    const { history, findings } = world;
    const failedBefore = history.balancedFailures.length;
    for (const api of [...world.apis, ...world.apis]) {
      const stoppedMs = await api.stop();
      findings.measure('an API process ends after SIGTERM', stoppedMs, 15_000);
      await api.start();
      await sleep(1_000);
    }
    for (const failure of history.balancedFailures.slice(failedBefore, failedBefore + 5)) {
      findings.violation('rolling restart without a client error', failure, 'src/service/cli/serve.ts AppClosing');
    }
    findings.note(`${history.balancedFailures.length - failedBefore} client errors through the balancer`);
  },
};

const JUMPING = ['api 2', 'worker 2'];

/**
 * The clocks of one API process and one worker jump an hour ahead, and later back. shifted-clock.ts replaces `Date` for
 * this.
 */
const clockOff: Fault<SurroundingsWorld> = {
  name: 'clock-an-hour-off',
  async strike(world) {
    const jumping = processesOf(world).filter(({ name }) => JUMPING.includes(name));
    world.history.isClockOff = true;
    jumping.forEach((process) => process.signal('SIGUSR2'));
    await sleep(8_000);
    jumping.forEach((process) => process.signal('SIGUSR2'));
    await sleep(3_000);
  },
};

export const processFaults: Fault<SurroundingsWorld>[] = [
  rollingRestart,
  killApi,
  killServe,
  killWorkerBeforeConnecting,
  killWorkerBytesOut,
  killWorkerAfter2xx,
  stopWorker,
  clockOff,
];
