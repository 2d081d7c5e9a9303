import type { Socket } from 'node:net';
import { deferred } from './deferred.js';
import { resetSocket } from './reset-socket.js';
import { byteLimit, type Limit, TcpLane, textLimit } from './tcp-lane.js';

export type Direction = 'toServer' | 'toClient';

/** How a connection is cut: with RST on both sides, or politely with FIN on both. */
export type Cut = 'reset' | 'end';

const both: readonly Direction[] = ['toServer', 'toClient'];

/** One connection through the proxy, with everything that can go wrong with it. */
export class ProxiedConnection {
  /** Resolves when both sides are closed. */
  readonly closed: Promise<void>;
  readonly #lanes: Readonly<Record<Direction, TcpLane>>;
  readonly #client: Socket;
  readonly #server: Socket;

  constructor(
    /** From 0, in the order in which they were opened. */
    readonly index: number,
    client: Socket,
    server: Socket,
    latencyMs: () => number,
  ) {
    this.#client = client;
    this.#server = server;
    this.#lanes = {
      toServer: new TcpLane(client, server, latencyMs),
      toClient: new TcpLane(server, client, latencyMs),
    };
    const closed = deferred();
    let open = 2;
    for (const socket of [client, server]) {
      // A side that breaks breaks the other one in the same way.
      socket.on('error', () => this.reset());
      socket.once('close', () => {
        open -= 1;
        if (open === 0) closed.resolve();
      });
    }
    this.closed = closed.promise;
  }

  /** Bytes that were passed on so far. */
  bytes(direction: Direction): number {
    return this.#lanes[direction].passed;
  }

  /** Keeps the connection and passes nothing on, in one direction or in both. */
  stall(...directions: readonly Direction[]): void {
    for (const direction of directions.length > 0 ? directions : both) this.#lanes[direction].stall();
  }

  resume(...directions: readonly Direction[]): void {
    for (const direction of directions.length > 0 ? directions : both) this.#lanes[direction].resume();
  }

  /** Passes this many bytes more in the direction, then cuts. */
  cutAfter(direction: Direction, bytes: number, how: Cut = 'reset'): void {
    this.#cutAt(direction, byteLimit(bytes), how);
  }

  /** Passes everything up to the end of this text in the direction, then cuts. */
  cutAfterText(direction: Direction, text: string, how: Cut = 'reset'): void {
    this.#cutAt(direction, textLimit(text), how);
  }

  /** Lets the next request with this text through whole, and resets the connection in place of its answer. */
  loseAnswerTo(text: string): void {
    const limit = textLimit(text);
    let asked = false;
    this.#lanes.toServer.limit(
      (bytes) => {
        if (!asked && limit(bytes) !== null) asked = true;
        return null;
      },
      () => {},
    );
    this.#lanes.toClient.limit(
      () => (asked ? 0 : null),
      () => this.reset(),
    );
  }

  /** Sends FIN in one direction; the other one goes on. */
  halfClose(direction: Direction): void {
    this.#lanes[direction].finish();
  }

  end(): void {
    for (const direction of both) this.#lanes[direction].finish();
  }

  reset(): void {
    resetSocket(this.#client);
    resetSocket(this.#server);
  }

  #cutAt(direction: Direction, limit: Limit, how: Cut): void {
    this.#lanes[direction].limit(limit, () => (how === 'reset' ? this.reset() : this.end()));
  }
}
