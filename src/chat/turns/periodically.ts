import type { Logger } from 'pino';

/**
 * Does a piece of work again and again, `everyMs` after the last time ended; a failure is logged and does not end it.
 * The returned function ends it and resolves when nothing of it runs any more.
 */
export function periodically(
  name: string,
  everyMs: number,
  log: Logger,
  work: () => Promise<void>,
): () => Promise<void> {
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  let ended = false;
  const schedule = () => {
    timer = setTimeout(() => {
      running = work()
        .catch((error) => log.warn({ err: error, work: name }, 'periodic work failed, it will be tried again'))
        .then(() => {
          if (!ended) schedule();
        });
    }, everyMs);
  };
  schedule();
  return async () => {
    ended = true;
    if (timer) clearTimeout(timer);
    await running;
  };
}
