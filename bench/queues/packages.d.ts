// Types of the parts of the queue libraries that the benchmark uses. The libraries are installed only when the benchmark runs them. With
// this file, the type check of the repository works without the libraries.

declare module 'graphile-worker' {
  export const Logger: new (createLog: (scope: object) => (level: string, message: string) => void) => object;
  export const WorkerPreset: object;
  export function run(options: {
    preset: { extends: object[]; worker: Record<string, unknown> };
    taskList: Record<string, (payload: unknown) => Promise<void>>;
    noHandleSignals: boolean;
  }): Promise<object>;
}

declare module 'bullmq' {
  interface Options {
    connection: { url: string };
  }
  export class Queue<Data> {
    constructor(name: string, options: Options & { defaultJobOptions: Record<string, unknown> });
    addBulk(jobs: { name: string; data: Data }[]): Promise<unknown>;
    pause(): Promise<void>;
    resume(): Promise<void>;
    getJobCountByTypes(...types: string[]): Promise<number>;
  }
  export class Worker<Data> {
    constructor(name: string, work: (job: { data: Data }) => Promise<void>, options: Options & { concurrency: number });
    on(event: 'error', listener: (error: Error) => void): this;
    waitUntilReady(): Promise<unknown>;
  }
}
