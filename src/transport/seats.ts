/** A bounded number of places, for each key and in all. */
export interface Seats {
  /** Takes a place and gives the function that frees it, once; null when there is none. */
  take(key: string): (() => void) | null;
  readonly taken: number;
}

export function createSeats(limits: { readonly inAll: number; readonly perKey: number }): Seats {
  const byKey = new Map<string, number>();
  let taken = 0;
  return {
    take(key) {
      const before = byKey.get(key) ?? 0;
      if (taken >= limits.inAll || before >= limits.perKey) {
        return null;
      }
      taken += 1;
      byKey.set(key, before + 1);
      let free = false;
      return () => {
        if (free) {
          return;
        }
        free = true;
        taken -= 1;
        const left = (byKey.get(key) ?? 1) - 1;
        if (left === 0) {
          byKey.delete(key);
        } else {
          byKey.set(key, left);
        }
      };
    },
    get taken() {
      return taken;
    },
  };
}
