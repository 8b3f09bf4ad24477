import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { StopLimits, StopLines } from './stop-watchdog.ts';

const { noticeMs, limitMs, unknownTime } = workerData as StopLimits;
let lines: StopLines | undefined;
let notice: NodeJS.Timeout | undefined;

function say(line: string): void {
  const now = new Date().toISOString();
  writeSync(
    2,
    line.replace(unknownTime, (found) => (found.length > 12 ? now : now.slice(11, 23))),
  );
}

parentPort?.on('message', (next: StopLines) => {
  lines = next;
  clearTimeout(notice);
  notice = setTimeout(() => say(next.waits), noticeMs);
});
setTimeout(() => {
  if (lines !== undefined) say(lines.force);
  process.kill(process.pid, 'SIGKILL');
}, limitMs);
