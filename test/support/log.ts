import { type Logger, pino } from 'pino';

/** A log that writes nothing. */
export const silentLog = pino({ level: 'silent' });

/** A log whose lines a test can read and wait for. */
export function recordingLog(): { log: Logger; lines: string[]; waitFor(text: string): Promise<void>; forget(): void } {
  const lines: string[] = [];
  const waiting: { text: string; resolve: () => void }[] = [];
  const write = (line: string) => {
    lines.push(line);
    for (const { text, resolve } of waiting) if (line.includes(text)) resolve();
  };
  return {
    log: pino({ level: 'trace' }, { write }),
    lines,
    forget: () => {
      lines.length = 0;
    },
    waitFor: (text) =>
      lines.some((line) => line.includes(text))
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ text, resolve })),
  };
}
