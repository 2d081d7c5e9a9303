/** Longest event that is taken, in UTF-16 units. A chunk of a completion has a few hundred. */
const maxEventLength = 1_048_576;

/** Thrown for a stream that is not one of events; the caller turns it into a ModelError. */
export class BadStreamError extends Error {
  override readonly name = 'BadStreamError';
}

export interface SseEvent {
  /** The value of the `event:` field, mostly absent. */
  readonly event: string | null;
  readonly data: string;
}

export interface SseReader {
  /** The events that these bytes complete. */
  push(bytes: Uint8Array): SseEvent[];
  /** After a clean end of the body: the event that lacks its blank line. */
  end(): SseEvent[];
}

/**
 * Reads server-sent events out of arbitrarily cut bytes, in time linear in their number.
 *
 * The SDK's own reader is not used: it prints events that it cannot parse to the log, drops a last event that has no
 * blank line after it, takes lines of any length, copies its buffer for every event, and costs more than all the rest of
 * a model call.
 *
 * @throws BadStreamError for an event over the limit.
 */
export function createSseReader(): SseReader {
  const decoder = new TextDecoder();
  // A line that has not ended yet is kept in pieces and joined once: joining per read would be quadratic.
  let line: string[] = [];
  let lineLength = 0;
  let endsWithCarriageReturn = false;
  /** Of the whole lines of the event that is being read. */
  let length = 0;
  let event: string | null = null;
  let data: string | null = null;

  function read(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    const lines = normaliseLineEnds(text);
    let from = 0;
    for (let at = lines.indexOf('\n'); at !== -1; at = lines.indexOf('\n', from)) {
      const rest = lines.slice(from, at);
      from = at + 1;
      if (line.length === 0) {
        takeLine(rest, events);
      } else {
        line.push(rest);
        const whole = line.join('');
        line = [];
        lineLength = 0;
        takeLine(whole, events);
      }
    }
    if (from < lines.length) {
      const rest = lines.slice(from);
      line.push(rest);
      lineLength += rest.length;
      checkLength();
    }
    return events;
  }

  /** Makes CR LF and CR to LF. A CR at the end of a read may be followed by its LF in the next one. */
  function normaliseLineEnds(text: string): string {
    const rest = endsWithCarriageReturn && text.startsWith('\n') ? text.slice(1) : text;
    if (text.length > 0) endsWithCarriageReturn = text.endsWith('\r');
    return rest.includes('\r') ? rest.replace(/\r\n?/g, '\n') : rest;
  }

  function takeLine(text: string, events: SseEvent[]): void {
    if (text === '') {
      if (data !== null) events.push({ event, data });
      event = null;
      data = null;
      length = 0;
      return;
    }
    length += text.length;
    checkLength();
    if (text.startsWith('data:')) {
      const value = fieldValue(text, 5);
      data = data === null ? value : `${data}\n${value}`;
    } else if (text.startsWith('event:')) {
      event = fieldValue(text, 6);
    }
  }

  function checkLength(): void {
    if (length + lineLength > maxEventLength) throw new BadStreamError('an event is over the limit');
  }

  return {
    push: (bytes) => read(decoder.decode(bytes, { stream: true })),
    end: () => read(`${decoder.decode()}\n\n`),
  };
}

/** What follows the colon, without the one blank that may stand there. */
function fieldValue(text: string, from: number): string {
  return text.slice(text.charCodeAt(from) === 0x20 ? from + 1 : from);
}
