// Worker of the library graphile-worker. It sends the events of its queue.
import { Logger, run, WorkerPreset } from 'graphile-worker';
import { answerJobs } from '../child.ts';
import { createPoster, type Post, type Target } from '../poster.ts';

export interface GraphileWorkerJob {
  databaseUrl: string;
  targets: Target[];
  cert: string;
}

/** Number of jobs that run at the same time. */
const CONCURRENT_JOBS = 64;

// By default the library logs every job, which takes time. This logger writes only errors.
const logger = new Logger(() => (level, message) => {
  if (level === 'error') {
    console.error(message);
  }
});

/** Makes the tables of the library and starts its worker, which runs until this process exits. */
answerJobs(async ({ databaseUrl, targets, cert }: GraphileWorkerJob): Promise<void> => {
  const post = createPoster({ targets, cert, connections: CONCURRENT_JOBS });
  await run({
    preset: {
      extends: [WorkerPreset],
      worker: {
        connectionString: databaseUrl,
        concurrentJobs: CONCURRENT_JOBS,
        // With these options, the library fetches and completes jobs in batches. The performance page of its documentation uses the same
        // options. In a test with 32 concurrent jobs and a `size` of 33, the library made 10 to 20 % fewer deliveries per second.
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        logger,
      },
    },
    taskList: { deliver: (payload) => post(payload as Post) },
    noHandleSignals: true,
  });
});
