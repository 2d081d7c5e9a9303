import { z } from 'zod';
import type { McpServerConfig } from '../../mcp-config.js';
import type { ServerTool } from '../tools/tool.js';
import type { ToolFailure } from '../tools/tool-failure.js';
import { backoffMs } from './backoff.js';
import { badResult, isAnswer, isNotSent, lost, reasonOf, refused, timedOut, unreachable } from './call-failure.js';
import { type CallResult, textOf } from './call-result.js';
import { type Connection, type ConnectionDependencies, openConnection } from './connection.js';
import { listedTool } from './listed-tool.js';
import { type CallTool, mcpTool } from './mcp-tool.js';

/** How long a call waits for a connection that is being made. */
const patienceMs = 5_000;
/** The longest pause between two attempts while somebody waits. */
const wantedPauseMs = 500;
/** A connection that held so long counts as a good one: what comes after it is a new outage. */
const stableMs = 30_000;
/** Tools of one server. */
const mostTools = 500;
/** Of a long outage, every how manieth attempt is told at level warn. */
const toldAttempts = 20;

export interface McpServerDependencies extends ConnectionDependencies {
  readonly random: () => number;
  /** The name under which the model knows a tool of this server. */
  readonly nameOf: (tool: string) => string;
}

/** One MCP server: kept connected from start to stop, with its tools as it has told them last. */
export class McpServer {
  readonly #config: McpServerConfig;
  readonly #deps: McpServerDependencies;
  readonly #stopping = new AbortController();
  #tools: readonly ServerTool[] = [];
  #connection: Connection | null = null;
  /** Those who wait for a connection, or for the next attempt to fail. */
  #waiting: (() => void)[] = [];
  /** Calls that wait for a connection. */
  #wanted = 0;
  #endNap: () => void = () => {};
  #keeping: Promise<void> = Promise.resolve();
  #hasTried = false;

  constructor(config: McpServerConfig, deps: McpServerDependencies) {
    this.#config = config;
    this.#deps = deps;
  }

  start(): void {
    this.#keeping = this.#keep();
  }

  /** Those it has told last. They stay while it is away, so that an outage changes no prompt; calls say that it is away. */
  get tools(): readonly ServerTool[] {
    return this.#tools;
  }

  /** Resolves when the first attempt to connect has come to something, good or bad. */
  async tried(): Promise<void> {
    while (!this.#hasTried && !this.#stopping.signal.aborted) await this.#news();
  }

  /** Resolves when the connection is closed and a child has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#endNap();
    await this.#connection?.close();
    await this.#keeping;
    this.#tell();
  }

  #news(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #tell(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #keep(): Promise<void> {
    const { log, random } = this.#deps;
    const { signal } = this.#stopping;
    const mcpServer = this.#config.name;
    let failures = 0;
    while (!signal.aborted) {
      let reason = 'the connection was closed';
      const startedAt = performance.now();
      try {
        const connection = await openConnection(this.#config, this.#deps, (tools) => this.#take(tools), signal);
        this.#connection = connection;
        log.info({ mcpServer, tools: this.#tools.length }, 'MCP server connected');
        this.#attempted();
        await connection.closed;
      } catch (error) {
        reason = reasonOf(error);
      }
      const wasConnected = this.#connection !== null;
      this.#connection = null;
      if (signal.aborted) return;
      if (wasConnected && performance.now() - startedAt > stableMs) failures = 0;
      failures += 1;
      const retryInMs = backoffMs(failures, random());
      const level = wasConnected || failures % toldAttempts === 1 ? 'warn' : 'debug';
      const what = wasConnected ? 'MCP server lost' : 'MCP server cannot be reached';
      log[level]({ mcpServer, reason, retryInMs }, `${what}, it is tried again`);
      this.#attempted();
      await this.#nap(this.#wanted > 0 ? Math.min(retryInMs, wantedPauseMs) : retryInMs);
    }
  }

  #attempted(): void {
    this.#hasTried = true;
    this.#tell();
  }

  #nap(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endNap = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#stopping.signal.aborted) this.#endNap();
    });
  }

  async #take(listed: readonly unknown[]): Promise<void> {
    const tools = new Map<string, ServerTool>();
    for (const one of listed) {
      // A long list is no reason to hold up the turns of others.
      await new Promise((resolve) => setImmediate(resolve));
      const read = listedTool.safeParse(one);
      if (!read.success) {
        this.#leaveOut(String((one as { name?: unknown } | null)?.name), 'its description is not one of a tool');
        continue;
      }
      const name = this.#deps.nameOf(read.data.name);
      try {
        if (tools.has(name)) throw new Error('there are two of this name');
        if (tools.size >= mostTools) throw new Error(`the server has more than ${mostTools} tools`);
        const { name: server, timeoutMs } = this.#config;
        tools.set(name, mcpTool(read.data, { server, name, timeoutMs, call: this.#call }));
      } catch (error) {
        this.#leaveOut(read.data.name, error instanceof Error ? error.message.slice(0, 200) : 'unknown');
      }
    }
    this.#tools = [...tools.values()];
  }

  #leaveOut(tool: string, reason: string): void {
    const facts = { mcpServer: this.#config.name, tool: tool.slice(0, 100), reason };
    this.#deps.log.warn(facts, 'a tool of an MCP server is left out');
  }

  /** The connection, after some patience with one that is being made. */
  async #connected(signal: AbortSignal): Promise<Connection> {
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      this.#tell();
    };
    const timer = setTimeout(giveUp, patienceMs);
    signal.addEventListener('abort', giveUp, { once: true });
    this.#wanted += 1;
    try {
      // Somebody needs it now: no use in waiting longer.
      if (!this.#connection) this.#endNap();
      for (;;) {
        if (this.#connection?.isOpen()) return this.#connection;
        if (isLate || signal.aborted || this.#stopping.signal.aborted) throw unreachable(this.#config.name);
        await this.#news();
      }
    } finally {
      this.#wanted -= 1;
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  /**
   * The connection for a call. Over HTTP a session may have ended without a word, and a write is never sent twice: so it
   * is asked first whether the server still knows us.
   */
  async #connectedFor(isWrite: boolean, signal: AbortSignal): Promise<Connection> {
    const connection = await this.#connected(signal);
    if (!isWrite || this.#config.kind !== 'http') return connection;
    await connection.check();
    return connection.isOpen() ? connection : this.#connected(signal);
  }

  readonly #call: CallTool = async ({ name, isWrite }, args, { signal }) => {
    const connection = await this.#connectedFor(isWrite, signal);
    const abort = new AbortController();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      abort.abort('the time is up');
    }, this.#config.timeoutMs);
    const onAbort = () => abort.abort('the call is not wanted any more');
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    let result: CallResult;
    try {
      result = await connection.call(name, args, abort.signal);
    } catch (error) {
      if (isLate) {
        void connection.check();
        throw timedOut(isWrite);
      }
      if (signal.aborted) throw error;
      throw await this.#failureOf(error, connection, isWrite);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
    return textOf(result);
  };

  async #failureOf(error: unknown, connection: Connection, isWrite: boolean): Promise<ToolFailure> {
    const { name } = this.#config;
    if (isAnswer(error) && connection.isOpen()) return refused(error);
    if (error instanceof z.ZodError) return badResult();
    // A connection that is no use any more is given up before the call may be tried again.
    await connection.check();
    return isNotSent(error) ? unreachable(name) : lost(name, isWrite, error);
  }
}
