import { getHeapStatistics, queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

// biome-ignore lint/suspicious/noExplicitAny: a class whose instances are only counted.
type Class = abstract new (...args: any[]) => object;

/**
 * How many instances of a class are in memory, garbage not counted. Of Object it is nearly everything: closures,
 * timers, sockets, what is in collections. It is exact, unlike bytes, which change with what the engine compiles. Takes
 * a second, since it looks at the whole heap.
 */
export const countObjects = (type: Class): number => Number(queryObjects(type, { format: 'count' }));

/** All objects in memory, counted until nothing changes any more: connections take a moment to close. */
export async function settledObjects(): Promise<number> {
  let before = 0;
  let count = countObjects(Object);
  while (count !== before) {
    before = count;
    await new Promise((resolve) => setTimeout(resolve, 500));
    count = countObjects(Object);
  }
  return count;
}

/** Bytes in use, after everything that is garbage has been taken out: the JavaScript heap and what buffers hold. */
export function bytesInUse(): number {
  // What one collection frees may make more of it garbage: finalizers, caches that hold weakly.
  for (let round = 0; round < 3; round += 1) collect();
  return getHeapStatistics().used_heap_size + process.memoryUsage().arrayBuffers;
}
