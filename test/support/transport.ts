import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { createAuthenticator } from '../../src/auth/authenticate.js';
import type { Config } from '../../src/config.js';
import { createLog } from '../../src/observability/log.js';
import type { Transport, TransportLimits, TransportTiming } from '../../src/transport/options.js';
import { createTransport } from '../../src/transport/server.js';
import { collectLines } from './log-lines.js';
import { type Activity, createTestSchema, DatabaseAway } from './transport-schema.js';

export interface TestTransport {
  /** The endpoint, with /graphql. */
  readonly url: string;
  readonly base: string;
  readonly port: number;
  readonly transport: Transport;
  readonly activity: Activity;
  readonly log: ReturnType<typeof collectLines>;
  /** What the readiness check answers; may be changed. */
  ready: () => Promise<boolean>;
  stop(): Promise<void>;
}

export interface TestTransportOptions {
  readonly config?: Partial<Config['server']>;
  readonly auth?: Config['auth'];
  readonly limits?: Partial<TransportLimits>;
  readonly timing?: Partial<TransportTiming>;
  /** Awaited before a caller is looked at, and before the context of an operation is made: to hold them there. */
  readonly hold?: { readonly authentication?: () => Promise<void>; readonly context?: () => Promise<void> };
}

/** A transport over the test schema, on a free port. */
export async function startTransport(options: TestTransportOptions = {}): Promise<TestTransport> {
  const { schema, activity } = createTestSchema();
  const log = collectLines();
  const auth = options.auth ?? null;
  const authenticate = createAuthenticator(auth);
  const started: { ready: () => Promise<boolean> } = { ready: async () => true };
  const transport = createTransport({
    config: {
      host: '127.0.0.1',
      port: 0,
      maxRequestBytes: 1_048_576,
      corsOrigins: [],
      graphiql: true,
      shutdownGraceMs: 1_000,
      stalledReaderMs: 60_000,
      ...options.config,
    },
    schema,
    async authenticate(authorization) {
      await options.hold?.authentication?.();
      return authenticate(authorization);
    },
    authRequired: auth !== null,
    async createContext(start) {
      await options.hold?.context?.();
      return { ...start, activity };
    },
    readiness: () => started.ready(),
    isUnavailable: (error) => error instanceof DatabaseAway,
    log: createLog('debug', log.destination),
    newId: randomUUID,
    ...(options.limits ? { limits: options.limits } : {}),
    ...(options.timing ? { timing: options.timing } : {}),
  });
  const { url: base, port } = await transport.listen();
  return Object.assign(started, {
    url: `${base}/graphql`,
    base,
    port,
    transport,
    activity,
    log,
    stop: () => transport.close(0),
  });
}

/** The same for the length of one test. */
export async function useTransport(options: TestTransportOptions = {}): Promise<TestTransport> {
  const started = await startTransport(options);
  onTestFinished(() => started.stop());
  return started;
}
