export type ReplicaQuestion =
  /** See readFailpoints. */
  { readonly ask: 'arm'; readonly failpoints: string } | { readonly ask: 'resources' };

/** What a test tells a replica over its channel. Each is answered under the same `id`. */
export type ReplicaRequest = ReplicaQuestion & { readonly id: number };

export interface ReplicaResources {
  /** What keeps its event loop alive, by kind: sockets, servers, timers. */
  readonly active: Readonly<Record<string, number>>;
  /** In bytes, after a collection. */
  readonly heapUsed: number;
  /** Bytes of buffers, which lie outside of the heap. */
  readonly buffers: number;
}

export interface ReplicaAnswer {
  readonly id: number;
  readonly resources?: ReplicaResources;
}

/** How often each value occurs. */
export function countEach(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
