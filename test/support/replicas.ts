import { onTestFinished } from 'vitest';
import { type Replica, type ReplicaOptions, startReplica } from './replica.js';

export type Replicas = readonly [Replica, ...Replica[]];

/** Starts several servers on one database at once, for the length of one test. */
export async function useReplicas(
  count: number,
  options: ReplicaOptions | ((index: number) => ReplicaOptions),
): Promise<Replicas> {
  const starting = Array.from({ length: count }, (_, index) =>
    startReplica(typeof options === 'function' ? options(index) : options),
  );
  onTestFinished(async () => {
    const started = await Promise.allSettled(starting);
    await Promise.all(started.map((one) => (one.status === 'fulfilled' ? one.value.kill() : undefined)));
  });
  return (await Promise.all(starting)) as unknown as Replicas;
}
