import type { ServerTool, ToolContext } from './tool.js';

/** How long a tool that ignores its abort is waited for, so that one that obeys can still say what it did. */
const graceMs = 1_000;

/** What became of a run. The thrown error of a failure is for the log only. */
export type ToolRun =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'timedOut' }
  /** The turn's signal came first: whether the tool has done its work is not known. */
  | { readonly kind: 'aborted' };

/** Runs a tool within its time. Never rejects; what a tool does after its time is heard no more. */
export async function runTool(tool: ServerTool, value: unknown, { signal, ...ids }: ToolContext): Promise<ToolRun> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const cut = new Promise<ToolRun>((resolve) => {
    const endAfter = (ms: number, reason: unknown, run: ToolRun) => {
      clearTimeout(timer);
      abort.abort(reason);
      timer = setTimeout(() => resolve(run), ms);
    };
    onAbort = () => endAfter(graceMs, signal.reason, { kind: 'aborted' });
    timer = setTimeout(
      () => endAfter(0, new Error('the time of the tool is up'), { kind: 'timedOut' }),
      tool.timeoutMs,
    );
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  const work = (async () => tool.run(value, { signal: abort.signal, ...ids }))().then(
    (given): ToolRun => ({ kind: 'returned', value: given }),
    // A tool that is aborted throws for that reason, not because it failed.
    (error): ToolRun => {
      if (signal.aborted) return { kind: 'aborted' };
      return abort.signal.aborted ? { kind: 'timedOut' } : { kind: 'threw', error };
    },
  );
  try {
    return await Promise.race([work, cut]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
