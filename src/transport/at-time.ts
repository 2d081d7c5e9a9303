/** The longest delay that a timer of Node keeps. */
const longestDelay = 2 ** 31 - 1;

/** Calls `action` at a time in milliseconds since 1970, however far away; gives the function that cancels it. */
export function atTime(time: number, action: () => void, now: () => number): () => void {
  let timer: NodeJS.Timeout;
  const wait = () => {
    const left = time - now();
    timer = left > longestDelay ? setTimeout(wait, longestDelay) : setTimeout(action, Math.max(0, left));
    timer.unref();
  };
  wait();
  return () => clearTimeout(timer);
}
