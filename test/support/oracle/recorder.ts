import type { SeenEvent, SentMessage, Watch } from './run.js';

/** Keeps what clients did and were told in a run, for `judge`. */
export interface Recorder {
  readonly sent: readonly SentMessage[];
  readonly watches: readonly Watch[];
  /** Notes a message right before its first sending. Sending it again under its key is the same message. */
  sending(sessionId: string, text: string): OpenMessage;
  /** Notes a client that begins to watch. */
  watching(name: string, options?: { readonly byCursor?: boolean }): OpenWatch;
}

export interface OpenMessage {
  /** The server has said that it has the message. The first time counts. */
  acknowledged(turnId: string): void;
}

export interface OpenWatch {
  took(event: SeenEvent): void;
  /** The server has said that nothing more comes. */
  completed(): void;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

export function createRecorder(now: () => number = () => performance.now()): Recorder {
  const sent: Writable<SentMessage>[] = [];
  const watches: (Writable<Watch> & { events: SeenEvent[] })[] = [];
  return {
    sent,
    watches,
    sending(sessionId, text) {
      const message: Writable<SentMessage> = { sessionId, text, sentAt: now(), acknowledgedAt: null, turnId: null };
      sent.push(message);
      return {
        acknowledged(turnId) {
          message.acknowledgedAt ??= now();
          message.turnId ??= turnId;
        },
      };
    },
    watching(name, { byCursor = true } = {}) {
      const watch = { name, byCursor, isComplete: false, events: [] as SeenEvent[] };
      watches.push(watch);
      return {
        took: (event) => watch.events.push(event),
        completed() {
          watch.isComplete = true;
        },
      };
    },
  };
}
