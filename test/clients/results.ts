/** A GraphQL result as a client sees it: plain JSON. */
export interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads from an answer is its own business.
  readonly data?: any;
  readonly errors?: readonly ResultError[];
}

export interface ResultError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly requestId?: string; readonly [key: string]: unknown };
}

/** The codes of the errors, in order. */
export const codesOf = (result: Result): (string | undefined)[] =>
  (result.errors ?? []).map((error) => error.extensions?.code);

/** Values that arrive in their own time, to be taken in theirs. */
export interface Inbox<T> {
  put(value: T): void;
  /** Nothing more comes: takers get null, or the error. */
  end(error?: Error): void;
  /** The next value, null after the end. */
  take(): Promise<T | null>;
  /** Everything until the end. */
  rest(): Promise<T[]>;
  /** What has arrived and was not taken. */
  readonly waiting: readonly T[];
}

export function createInbox<T>(): Inbox<T> {
  const values: T[] = [];
  const takers: { resolve(value: T | null): void; reject(error: Error): void }[] = [];
  let ended: { readonly error: Error | undefined } | null = null;
  const take = (): Promise<T | null> => {
    if (values.length > 0) {
      return Promise.resolve(values.shift() as T);
    }
    if (ended) {
      return ended.error ? Promise.reject(ended.error) : Promise.resolve(null);
    }
    return new Promise((resolve, reject) => takers.push({ resolve, reject }));
  };
  return {
    waiting: values,
    put(value) {
      const taker = takers.shift();
      if (taker) {
        taker.resolve(value);
      } else {
        values.push(value);
      }
    },
    end(error) {
      ended ??= { error };
      for (const taker of takers.splice(0)) {
        if (error) {
          taker.reject(error);
        } else {
          taker.resolve(null);
        }
      }
    },
    take,
    async rest() {
      const all: T[] = [];
      for (let value = await take(); value !== null; value = await take()) {
        all.push(value);
      }
      return all;
    },
  };
}
