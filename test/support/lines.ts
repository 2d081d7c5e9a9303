import { createInterface } from 'node:readline';

/** What a process writes, line by line. */
export interface Lines {
  readonly all: readonly string[];
  /** The first line with this text, now or later; rejects when the process ends without it. */
  waitFor(text: string): Promise<string>;
  /** Waits from here on for what is still to come. */
  forget(): void;
  /** Nothing more comes. */
  end(why: string): void;
}

export function collectStreamLines(...streams: readonly (NodeJS.ReadableStream | null)[]): Lines {
  const all: string[] = [];
  const waiting = new Set<{ text: string; resolve(line: string): void; reject(error: Error): void }>();
  let ended: string | null = null;
  const noLine = (text: string) => new Error(`${ended}, without a line with "${text}":\n${all.slice(-40).join('\n')}`);
  for (const stream of streams) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      all.push(line);
      for (const waiter of waiting) {
        if (!line.includes(waiter.text)) continue;
        waiting.delete(waiter);
        waiter.resolve(line);
      }
    });
  }
  return {
    all,
    waitFor(text) {
      const there = all.find((line) => line.includes(text));
      if (there !== undefined) return Promise.resolve(there);
      if (ended !== null) return Promise.reject(noLine(text));
      return new Promise((resolve, reject) => waiting.add({ text, resolve, reject }));
    },
    forget() {
      all.length = 0;
    },
    end(why) {
      ended = why;
      for (const { text, reject } of waiting) reject(noLine(text));
      waiting.clear();
    },
  };
}
