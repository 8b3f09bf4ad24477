/** How far something is. */
export interface Progress {
  readonly bytes: number;
  /** 0 where it is not known. */
  readonly ofBytes: number;
  readonly lines: number;
  readonly elapsedMs: number;
}

const BAR_CHARACTERS = 30;

/** Shorter than this they would only flicker, milliseconds. */
const REDRAW_MS = 100;

const ERASE_LINE = '\r\u001b[K';

/** One line of a terminal that is drawn again and again. */
export class ProgressBar {
  readonly #write: (text: string) => void;
  #drawnAtMs = Number.NEGATIVE_INFINITY;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Draws it, unless that was just done. */
  show(progress: Progress): void {
    if (progress.elapsedMs - this.#drawnAtMs < REDRAW_MS) return;
    this.#drawnAtMs = progress.elapsedMs;
    this.say(progressText(progress));
  }

  /** Puts something else in its place. */
  say(text: string): void {
    this.#write(`${ERASE_LINE}${text}`);
  }

  /** Leaves an empty line. */
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
