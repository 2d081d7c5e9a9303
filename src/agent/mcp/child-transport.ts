import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { ChildMcpServer } from '../../mcp-config.js';
import { hasGroups, signalGroup } from './process-group.js';

/** How long a child may take to end by itself, and again after SIGTERM. */
const graceMs = 2_000;
/** How long output of a child that has ended is waited for: something it started may hold the pipe open. */
const drainMs = 500;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const within = (work: Promise<void>, ms: number): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  return Promise.race([work.then(() => true), timeUp]).finally(() => clearTimeout(timer));
};

/**
 * Speaks with an MCP server that is a child of this process. Unlike the SDK's own transport it gives the child a group of
 * its own, so that what a launcher such as npx has started ends too and a Ctrl-C for this process is not also one for it;
 * it is closed only when the child has ended.
 */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #config: ChildMcpServer;
  readonly #children: Set<number>;
  readonly #onStderr: (stderr: Readable) => void;
  readonly #buffer = new ReadBuffer();
  #child: Child | null = null;
  #ended: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;

  /** @param children holds the ids of children for as long as they live */
  constructor(config: ChildMcpServer, children: Set<number>, onStderr: (stderr: Readable) => void) {
    this.#config = config;
    this.#children = children;
    this.#onStderr = onStderr;
  }

  async start(): Promise<void> {
    if (this.#child || this.#closing) throw new Error('a transport is started once');
    const { command, args, env, cwd } = this.#config;
    const child = spawn(command, args, {
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: hasGroups,
      windowsHide: true,
      ...(cwd !== null && { cwd }),
    });
    this.#child = child;
    this.#ended = this.#endOf(child);
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (bytes: Buffer) => this.#read(bytes));
    child.stdout.on('error', (error) => this.onerror?.(error));
    this.#onStderr(child.stderr);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
  }

  /** Resolves when the child, what it has started and its pipes are gone; `onclose` was called by then. */
  async #endOf(child: Child): Promise<void> {
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const { pid } = child;
    if (pid === undefined) return;
    this.#children.add(pid);
    await new Promise<void>((resolve) => child.once('exit', () => resolve()));
    await within(closed, drainMs);
    signalGroup(pid, 'SIGKILL');
    this.#children.delete(pid);
    await within(closed, drainMs);
    child.stdin.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
    this.onclose?.();
  }

  #read(bytes: Buffer): void {
    try {
      this.#buffer.append(bytes);
    } catch (error) {
      // It says more at once than any message may have: nothing it says can be made sense of any more.
      this.onerror?.(error as Error);
      void this.close();
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        // A line that is no message. The next one may be.
        this.onerror?.(error as Error);
      }
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (!child?.stdin.writable) throw Object.assign(new Error('the child takes no input'), { code: 'ENOTCONN' });
    await new Promise<void>((resolve, reject) => {
      child.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { pid, stdin } = this.#child ?? {};
    if (pid === undefined) {
      this.onclose?.();
      return;
    }
    stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await within(this.#ended, graceMs)) return;
      signalGroup(pid, signal);
    }
    await within(this.#ended, graceMs);
  }
}
