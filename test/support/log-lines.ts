/** A destination for createLog that keeps what was written. */
export function collectLines() {
  let written = '';
  const waiting = new Set<() => void>();
  const lines = (): Record<string, unknown>[] =>
    written
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    destination: {
      write(text: string) {
        written += text;
        for (const check of waiting) {
          check();
        }
      },
    },
    text: () => written,
    lines,
    clear() {
      written = '';
    },
    /** The first line that fits, now or later. */
    line(fits: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
      return new Promise((resolve) => {
        const check = () => {
          const found = lines().find(fits);
          if (found) {
            waiting.delete(check);
            resolve(found);
          }
        };
        waiting.add(check);
        check();
      });
    },
  };
}
