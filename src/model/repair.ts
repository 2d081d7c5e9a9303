/** Joins streamed pieces of one text. */
export interface TextJoiner {
  /** The part of the text that is certain now: a first half of a surrogate pair waits for its other half. */
  push(piece: string): string;
  /** What still waits when the text is over. */
  end(): string;
}

/**
 * Makes streamed text storable: Postgres refuses NUL, and half of a surrogate pair is stored as U+FFFD or refused. Both
 * become U+FFFD here, and a pair that was cut between two pieces is put together again, so no piece ever holds a half.
 */
export function createTextJoiner(): TextJoiner {
  let half = '';
  return {
    push(piece) {
      if (piece === '') return '';
      const text = half + piece;
      half = endsWithHighSurrogate(text) ? text.slice(-1) : '';
      return storable(half === '' ? text : text.slice(0, -1));
    },
    end() {
      const rest = half;
      half = '';
      return storable(rest);
    },
  };
}

function endsWithHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/** The text with everything that cannot be stored as U+FFFD. */
export function storable(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text).toWellFormed();
}
