/** Milliseconds of the processor that a run takes: what else the machine does lengthens its time, not this. */
export function processorMs(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
