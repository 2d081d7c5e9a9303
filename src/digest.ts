import { createHash } from 'node:crypto';

/** JSON with sorted keys, so that equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (value instanceof Date) return JSON.stringify(value);
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
  }
  return JSON.stringify(value ?? null);
}

/** SHA-256 in hex. */
export const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

/** The 16 hex digits by which contents are named in the trace. */
export const shortDigest = (value: unknown) => sha256(canonicalJson(value)).slice(0, 16);
