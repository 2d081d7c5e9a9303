/** Microseconds of the monotonic clock, which all processes of a machine share. */
export const microseconds = () => Number(process.hrtime.bigint() / 1000n);

// Seven digits to the base of 36 go around once in 21 hours.
const round = 36 ** 7;

/** A token of eight characters that tells when it was written. */
export const stampedToken = () => `~${(microseconds() % round).toString(36).padStart(7, '0')}`;

/** How many microseconds ago the token that starts at an index of a text was written. */
export function ageOfToken(text, index) {
  const written = Number.parseInt(text.slice(index + 1, index + 8), 36);
  return ((microseconds() % round) - written + round) % round;
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
