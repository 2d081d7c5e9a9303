/**
 * What a user's message tells the scripted provider to do.
 *
 * @param everyMs between two tokens; 0 as fast as it can
 * @param padding characters that every token is longer than its stamp
 */
export const script = ({ tokens, everyMs = 0, padding = 0 }) => `[[${tokens},${everyMs},${padding}]]`;

/** Headers and an opening chunk, then nothing. */
export const silence = script({ tokens: 0, everyMs: -1 });

/** The last script in the body of a request. Searched as bytes: the body of a long session is megabytes. */
export function findScript(body) {
  const end = body.lastIndexOf(']]');
  const start = body.lastIndexOf('[[', end);
  if (start < 0 || end < 0) throw new Error('a request without a script');
  const [tokens, everyMs, padding] = body
    .toString('latin1', start + 2, end)
    .split(',')
    .map(Number);
  return { tokens, everyMs, padding: 'x'.repeat(padding) };
}
