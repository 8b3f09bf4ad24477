export interface Progress {
  readonly bytes: number;
  /** 0 = unknown. */
  readonly ofBytes: number;
  readonly lines: number;
  readonly elapsedMs: number;
}

const BAR_CHARACTERS = 30;

/** Least time between two draws, milliseconds: faster ones flicker. */
const REDRAW_MS = 100;

const ERASE_LINE = '\r\u001b[K';

export class ProgressBar {
  readonly #write: (text: string) => void;
  #drawnAtMs = Number.NEGATIVE_INFINITY;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Draws the bar, at most every REDRAW_MS. */
  show(progress: Progress): void {
    if (progress.elapsedMs - this.#drawnAtMs < REDRAW_MS) return;
    this.#drawnAtMs = progress.elapsedMs;
    this.say(progressText(progress));
  }

  /** Replaces the line by a text. */
  say(text: string): void {
    this.#write(`${ERASE_LINE}${text}`);
  }

  clear(): void {
    this.#write(ERASE_LINE);
  }
}

/** `[######........................]  20 %  41,000 lines, 9,800 a second`. */
export function progressText({ bytes, ofBytes, lines, elapsedMs }: Progress): string {
  const rate = Math.round(lines / Math.max(elapsedMs / 1000, 0.001));
  const counts = `${grouped(lines)} lines, ${grouped(rate)} a second`;
  if (ofBytes === 0) return counts;
  const share = Math.min(1, bytes / ofBytes);
  const done = Math.floor(share * BAR_CHARACTERS);
  const bar = `[${'#'.repeat(done)}${'.'.repeat(BAR_CHARACTERS - done)}]`;
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${counts}`;
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
