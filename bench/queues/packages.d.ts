// Types of the parts of the queue libraries that the benchmark uses. With these types, the check of the repository does not need the
// libraries, which are installed only when the benchmark runs them.

declare module 'graphile-worker' {
  export const Logger: new (createLog: (scope: object) => (level: string, message: string) => void) => object;
  export const WorkerPreset: object;
  export function run(options: {
    preset: { extends: object[]; worker: Record<string, unknown> };
    taskList: Record<string, (payload: unknown) => Promise<void>>;
    noHandleSignals: boolean;
  }): Promise<object>;
}
