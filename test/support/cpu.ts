/** Processor time of this process for a synchronous piece of work, in milliseconds: other processes do not count. */
export function cpuMilliseconds(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
