import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { createEventReader, type ReadEvent } from './event-reader.js';

type Source = AsyncIterator<unknown, unknown, undefined>;
type Results = AsyncIterableIterator<ExecutionResult, undefined, undefined>;

const done = { done: true, value: undefined } as const;

/** The results of a subscription: each event executed as the root value. No generators, so `return` waits for nothing. */
function resultsOf(source: Source, { ...args }: ExecutionArgs): Results {
  let read: ReadEvent | null = null;
  async function resultOf(event: unknown): Promise<ExecutionResult> {
    const known = read?.(event);
    if (known) return known;
    args.rootValue = event;
    const result = await execute(args);
    // A check that refuses the operation as a whole speaks up at its first event, and then at each.
    if (!result.errors) read ??= createEventReader(args);
    return result;
  }
  return {
    async next() {
      const step = await source.next();
      return step.done ? done : { done: false, value: await resultOf(step.value) };
    },
    async return() {
      await source.return?.();
      return done;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function subscribe(args: ExecutionArgs): Promise<Results | ExecutionResult> {
  const source = await createSourceEventStream(args);
  return Symbol.asyncIterator in source ? resultsOf(source[Symbol.asyncIterator](), args) : source;
}

/**
 * Runs subscriptions with graphql-js and, where events ask for nothing but plain values, without it. Yoga's executor
 * passes every event through two generators and half a dozen promises for `@defer` and `@stream`, which this schema does
 * not have: for a token that comes alone that is half of what the server does.
 */
export function useEventExecution(): Plugin {
  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(subscribe);
    },
  };
}
