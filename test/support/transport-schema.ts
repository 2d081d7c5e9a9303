import { buildSchema, GraphQLError, type GraphQLSchema } from 'graphql';
import { badInput, ChatError } from '../../src/errors.js';
import { ModelError } from '../../src/model/port.js';
import type { OperationStart } from '../../src/transport/options.js';

const typeDefs = /* GraphQL */ `
  type Query {
    hello: String!
    echo(text: String!): String!
    number(value: Int!): Int!
    scope: Scope!
    node: TreeNode!
    slow: String!
    refuses: String
    fails: String
    modelFails: String
    databaseFails: String
    tooLarge: Int
    library: String
  }
  type Scope { owner: String! tenant: String! requestId: String! operationId: String }
  type TreeNode { name: String! node: TreeNode! nodes: [TreeNode!]! }
  type Mutation {
    bump: Int!
    send(input: SendInput!): String!
    createChatSession(input: CreateChatSessionInput): ChatSession!
  }
  input SendInput { sessionId: ID! message: String! }
  input CreateChatSessionInput { title: String }
  type ChatSession { id: ID! title: String model: String! }
  type Subscription {
    "Counts to the given number, every so many milliseconds."
    ticks(to: Int!, everyMs: Int = 0): Int!
    "Nothing ever happens."
    silent: Int!
    "The same in a bare generator, which only the signal can wake."
    parked: Int!
    "Throws after one tick."
    breaks: Int!
    refused: Int!
    broken: Int!
    unavailable: Int!
    "One result in which a field fails, then another."
    partial: Int
    "As many as are taken, each this long."
    flood(bytes: Int!): String!
    "So many at once, then silence."
    burst(count: Int!, bytes: Int!): String!
    operation: Scope!
    sent(input: SendInput!): String!
  }
`;

/** Which the error of a database that is away has in these tests. */
export class DatabaseAway extends Error {}

/** Things that must never reach a client. */
export const innerSecret = 'inner-secret-5a1f';

/** Counts that tests watch from outside. */
export interface Activity {
  bumps: number;
  sends: string[];
  /** Sources of subscriptions that are open. */
  readonly open: number;
  /** Resolves when that many are open. */
  whenOpen(count: number): Promise<void>;
  /** Counts a source, and gives the function that takes it out again. */
  enter(): () => void;
  /** Results that a flood was asked for. */
  pulled: number;
  /** Resolves the query `slow`. */
  finishSlow: (value: string) => void;
  /** Resolves when `slow` is being answered. */
  slowStarted: Promise<void>;
}

interface TestContext extends OperationStart {
  readonly activity: Activity;
}

/** An iterator as the product's own sources are: `return` ends it at once, also while `next` waits. */
function source<T>(activity: Activity, produce: (signal: AbortSignal) => Promise<T | null>): AsyncIterableIterator<T> {
  const controller = new AbortController();
  let open = true;
  const leave = activity.enter();
  const aborted = new Promise<null>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  const close = () => {
    if (open) {
      open = false;
      leave();
      controller.abort(over);
    }
    return { done: true, value: undefined } as const;
  };
  return {
    async next() {
      if (!open) {
        return close();
      }
      try {
        const value = await Promise.race([produce(controller.signal), aborted]);
        return value === null ? close() : { done: false, value };
      } catch (error) {
        close();
        throw error;
      }
    },
    async return() {
      return close();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

const wait = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });

/** One for all sources: making an error for each would be most of what leaving costs. */
const over = new Error('the source is over');

const never = () => new Promise<null>(() => {});

const scopeOf = ({ principal, requestId, operationId }: TestContext) => ({ ...principal, requestId, operationId });

/** A schema without a database behind it, with one field for each way in which an operation can go. */
export function createTestSchema(): { schema: GraphQLSchema; activity: Activity } {
  let started = () => {};
  let open = 0;
  const waiting = new Set<() => void>();
  const change = (by: number) => {
    open += by;
    for (const check of waiting) {
      check();
    }
  };
  const activity: Activity = {
    bumps: 0,
    sends: [],
    get open() {
      return open;
    },
    whenOpen: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (open === count) {
            waiting.delete(check);
            resolve();
          }
        };
        waiting.add(check);
        check();
      }),
    enter() {
      change(1);
      return () => change(-1);
    },
    pulled: 0,
    finishSlow: () => {},
    slowStarted: new Promise((resolve) => {
      started = resolve;
    }),
  };
  const tree = { name: 'tree', node: () => tree, nodes: () => [tree, tree] };
  const schema = buildSchema(typeDefs);
  // biome-ignore lint/suspicious/noExplicitAny: resolvers of a schema that has no types.
  const resolve = (type: string, field: string, resolver: (args: any, context: TestContext) => unknown) => {
    const definition = (
      schema.getType(type) as unknown as { getFields(): Record<string, Record<string, unknown>> }
    ).getFields()[field] as Record<string, unknown>;
    if (type === 'Subscription') {
      definition.subscribe = (_root: unknown, args: unknown, context: TestContext) => resolver(args, context);
      definition.resolve = (value: unknown) => {
        if (value instanceof Error) {
          throw value;
        }
        return value;
      };
    } else {
      definition.resolve = (_root: unknown, args: unknown, context: TestContext) => resolver(args, context);
    }
  };

  resolve('Query', 'hello', () => 'world');
  resolve('Query', 'echo', ({ text }) => text);
  resolve('Query', 'number', ({ value }) => value);
  resolve('Query', 'scope', (_args, context) => scopeOf(context));
  resolve('Query', 'node', () => tree);
  resolve('Query', 'slow', () => {
    started();
    return new Promise((resolve) => {
      activity.finishSlow = resolve;
    });
  });
  resolve('Query', 'refuses', () => {
    throw new ChatError('TURN_IN_PROGRESS', undefined, { details: { turnId: 'turn-1' } });
  });
  resolve('Query', 'fails', () => {
    throw new TypeError(`cannot read ${innerSecret} of undefined`);
  });
  resolve('Query', 'modelFails', () => {
    throw new ModelError('PROVIDER_AUTH', false, { status: 401, note: innerSecret });
  });
  resolve('Query', 'databaseFails', () => {
    throw new DatabaseAway(`connect ECONNREFUSED ${innerSecret}:5432`);
  });
  resolve('Query', 'tooLarge', () => 2 ** 31);
  resolve('Query', 'library', () => {
    throw new GraphQLError(`a library says ${innerSecret}`);
  });
  resolve('Mutation', 'bump', () => {
    activity.bumps += 1;
    return activity.bumps;
  });
  resolve('Mutation', 'send', ({ input }) => {
    activity.sends.push(input.message);
    return `${input.sessionId}: ${input.message}`;
  });
  resolve('Mutation', 'createChatSession', ({ input }) => ({
    id: 'session-one',
    title: input?.title ?? null,
    model: 'demo',
  }));

  resolve('Subscription', 'ticks', ({ to, everyMs }) => {
    let last = 0;
    return source(activity, async (signal) => {
      if (last === to) {
        return null;
      }
      if (everyMs > 0) {
        await wait(everyMs, signal);
      }
      last += 1;
      return last;
    });
  });
  resolve('Subscription', 'silent', () => source(activity, never));
  resolve('Subscription', 'parked', async function* (_args, context) {
    const leave = activity.enter();
    const signal = context.signal();
    try {
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      yield 0;
    } finally {
      leave();
    }
  });
  resolve('Subscription', 'breaks', () => {
    let first = true;
    return source(activity, async () => {
      if (!first) {
        throw new Error(`lost ${innerSecret}`);
      }
      first = false;
      return 1;
    });
  });
  resolve('Subscription', 'refused', () => {
    throw new ChatError('NOT_FOUND');
  });
  resolve('Subscription', 'broken', () => {
    throw new Error(`cannot start ${innerSecret}`);
  });
  resolve('Subscription', 'unavailable', async () => {
    throw new DatabaseAway(innerSecret);
  });
  resolve('Subscription', 'partial', () => {
    const values = [1, badInput('This one is not for you.'), 3];
    return source(activity, async () => (values.shift() as number | undefined) ?? null);
  });
  resolve('Subscription', 'flood', ({ bytes }) =>
    source(activity, async () => {
      activity.pulled += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return 'x'.repeat(bytes);
    }),
  );
  resolve('Subscription', 'burst', ({ count, bytes }) => {
    let sent = 0;
    return source(activity, async () => {
      sent += 1;
      return sent > count ? never() : 'x'.repeat(bytes);
    });
  });
  resolve('Subscription', 'operation', (_args, context) => {
    let told = false;
    return source(activity, async () => {
      if (told) {
        return null;
      }
      told = true;
      return scopeOf(context);
    });
  });
  resolve('Subscription', 'sent', ({ input }) => {
    activity.sends.push(input.message);
    let told = false;
    return source(activity, async () => {
      if (told) {
        return null;
      }
      told = true;
      return `${input.sessionId}: ${input.message}`;
    });
  });
  return { schema, activity };
}
