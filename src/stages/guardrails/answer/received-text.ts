import type { Finding } from '../filters/finding.ts';
import type { StreamScan } from '../filters/stream-scan.ts';

/** Scans one text that comes back in pieces. */
export class ReceivedText {
  readonly #scan: StreamScan;
  readonly #note: (findings: readonly Finding[]) => void;
  #isChanged = false;

  constructor(scan: StreamScan, note: (findings: readonly Finding[]) => void) {
    this.#scan = scan;
    this.#note = note;
  }

  /** Returns the characters that can be forwarded. Holds back text that a pattern could still match across the cut. */
  push(piece: string): string {
    return this.#released(this.#scan.push(piece));
  }

  end(): string {
    return this.#released(this.#scan.end());
  }

  /** Something was replaced or blocked. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** The end of the text that more text could make part of a match. */
  get openEnd(): StreamScan['openEnd'] {
    return this.#scan.openEnd;
  }

  /** Replaces a span that a wider scan has found and noted. */
  cover(finding: Finding): void {
    this.#scan.cover(finding);
    if (finding.action !== 'flag') this.#isChanged = true;
  }

  get isHolding(): boolean {
    return this.#scan.heldCharacters > 0;
  }

  /** Characters that were received and have not left. */
  get heldCharacters(): number {
    return this.#scan.heldCharacters;
  }

  #released({ release, findings }: ReturnType<StreamScan['push']>): string {
    if (findings.length > 0) {
      this.#note(findings);
      if (findings.some(({ action }) => action !== 'flag')) this.#isChanged = true;
    }
    return release;
  }
}
