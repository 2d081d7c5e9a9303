/** Work that never runs twice at a time: asked for while it runs, it is done once more after that. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let isAskedAgain = false;
  const run = async () => {
    try {
      do {
        isAskedAgain = false;
        await work();
      } while (isAskedAgain);
    } finally {
      running = null;
    }
  };
  return () => {
    if (running) isAskedAgain = true;
    running ??= run();
    return running;
  };
}
