import type { Principal } from '../auth/principal.js';
import type { OperationRecord, TransportName } from '../observability/operation-log.js';
import type { OperationScope } from './options.js';

/** Why the signal of an operation was aborted. One for all: an error with a stack for each would tell nobody more. */
const operationOver = new DOMException('The operation is over.', 'AbortError');

/** An operation from its arrival to its end. */
export class Operation implements OperationScope {
  readonly principal: Principal;
  readonly requestId: string;
  readonly operationId: string | null;
  readonly transport: TransportName;
  readonly record: OperationRecord;
  #isOver = false;
  #controller: AbortController | null = null;
  readonly #undo: (() => void)[] = [];

  constructor(start: Omit<OperationScope, 'isOver' | 'signal' | 'onceOver'>) {
    this.principal = start.principal;
    this.requestId = start.requestId;
    this.operationId = start.operationId;
    this.transport = start.transport;
    this.record = start.record;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  // Few ask for it, and it would be most of what an operation costs that only waits.
  signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) {
      this.#controller.abort(operationOver);
    }
    return this.#controller.signal;
  }

  onceOver(undo: () => void): void {
    if (this.#isOver) {
      undo();
    } else {
      this.#undo.push(undo);
    }
  }

  /** Later calls do nothing. `left` means that the client went away first. */
  end(left: boolean): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    this.record.end(left);
    for (const undo of this.#undo) {
      undo();
    }
    this.#controller?.abort(operationOver);
  }
}
