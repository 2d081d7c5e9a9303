/** No provider asks for more in earnest, and a longer wait is of no use to a chat. */
const maxRetryAfterMs = 24 * 60 * 60 * 1000;

/**
 * How long a provider asks to wait, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date. Null
 * when it says nothing sensible; never negative, never over a day.
 *
 * @param now wall clock in milliseconds, for dates
 */
export function parseRetryAfter(headers: { get(name: string): string | null }, now: number): number | null {
  const milliseconds = parseNumber(headers.get('retry-after-ms'));
  if (milliseconds !== null) return bounded(milliseconds);
  const header = headers.get('retry-after');
  const seconds = parseNumber(header);
  if (seconds !== null) return bounded(seconds * 1000);
  // Only the form that HTTP knows: Date.parse takes nearly anything for a date.
  const date = header !== null && /^[A-Z][a-z]{2}, .* GMT$/.test(header.trim()) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : bounded(date - now);
}

function parseNumber(text: string | null): number | null {
  return text !== null && /^\d{1,12}(\.\d{1,6})?$/.test(text.trim()) ? Number(text) : null;
}

const bounded = (ms: number) => Math.min(Math.max(Math.ceil(ms), 0), maxRetryAfterMs);
