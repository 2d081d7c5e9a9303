/** Whether children can lead a group of their own, so that what they start ends with them. */
export const hasGroups = process.platform !== 'win32';

/** Signals a child that leads a group, with all that it has started. What is gone already is no error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(hasGroups ? -pid : pid, signal);
  } catch {
    // It ended by itself.
  }
}
