import { findOrBundle } from './bundle.js';

let made: Promise<string> | null = null;

/** The path of replica-main with the server in it: it starts in half the time of the compiled server. */
export function replicaBundle(): Promise<string> {
  made ??= findOrBundle('test/support/replica-main.ts', ['src', 'test/support', 'package-lock.json']);
  return made;
}
