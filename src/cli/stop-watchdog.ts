import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { openLog } from '../kit/log/log.ts';

/** A wait of closing that is logged, milliseconds. */
const NOTICE_MS = 2_000;

/** How long closing may take after the drain, milliseconds. */
const CLOSING_MS = 10_000;

/** Stands in rendered lines for the moment when they are written. */
const UNKNOWN_TIME = /1970-01-01T00:00:00.000Z|00:00:00.000/;

/** The program of the thread, in memory: the disk that it lies on may be the one that does not answer. */
const PROGRAM = new URL(
  `data:text/javascript;base64,${readFileSync(new URL('./stop-watchdog-main.js', import.meta.url), 'base64')}`,
);

export interface StopLimits {
  readonly noticeMs: number;
  readonly limitMs: number;
  readonly unknownTime: RegExp;
}

export interface StopLines {
  readonly waits: string;
  readonly force: string;
}

export interface StopWatchdog {
  closing(what: string): void;
}

/**
 * Logs what a stop waits for, and ends the process if it is not over some time after the drain. Runs in a thread of
 * its own, because a disk that does not answer may block the main thread. The process is killed, because an exit in
 * order would wait for the threads that wait for the disk; the next start recovers as after a crash.
 */
export function watchStop(drainMs: number, dataDir: string): StopWatchdog {
  const workerData: StopLimits = {
    noticeMs: NOTICE_MS,
    limitMs: drainMs + CLOSING_MS,
    unknownTime: UNKNOWN_TIME,
  };
  const worker = new Worker(PROGRAM, { execArgv: [], workerData });
  worker.unref();
  // Without a watchdog the process stops as it can.
  worker.on('error', () => {});
  return {
    closing(what) {
      const lines: StopLines = {
        waits: lineOf('warn', `stopping waits for ${what} to close`, dataDir),
        force: lineOf(
          'error',
          `stopped by force: ${what} did not close in time; the next start settles what is open. If a disk does not ` +
            'answer, the system keeps the process until it does',
          dataDir,
        ),
      };
      worker.postMessage(lines);
    },
  };
}

function lineOf(level: 'warn' | 'error', message: string, dataDir: string): string {
  let rendered = '';
  const log = openLog({
    level: 'info',
    readable: process.stderr.isTTY === true,
    write: (line) => {
      rendered = line;
    },
    now: () => 0,
  });
  log[level](message, { data_dir: dataDir });
  return rendered;
}
