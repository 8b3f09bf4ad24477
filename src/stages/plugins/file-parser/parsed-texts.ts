import { RecentMap } from '../../../kit/collections/recent-map.ts';
import type { PdfText } from '../../../web/pdf-text.ts';
import { PdfProblem } from '../../../web/pdf-text.ts';

const MAX_KEPT_CHARACTERS = 32_000_000;
const MAX_KEPT_TEXTS = 10_000;

/** A parse that is under way, and how many requests wait for it. */
interface OpenParse {
  readonly result: Promise<PdfText>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Texts of files, by content: each content is parsed once, also if several requests bring it at the same time. Files
 * that cannot be read are remembered too. A parse that no request waits for any more is given up.
 */
export class ParsedTexts {
  readonly #kept = new RecentMap<string, PdfText | PdfProblem>(MAX_KEPT_TEXTS, {
    maxSize: () => MAX_KEPT_CHARACTERS,
    sizeOf: (value) => (value instanceof PdfProblem ? 1 : value.text.length + 1),
  });
  readonly #open = new Map<string, OpenParse>();

  has(key: string): boolean {
    return this.#kept.has(key);
  }

  /** The text of a content. Rejects as `parse` does, or with the signal's reason. */
  async of(
    key: string,
    signal: AbortSignal,
    parse: (signal: AbortSignal) => Promise<PdfText>,
  ): Promise<PdfText> {
    signal.throwIfAborted();
    const kept = this.#kept.get(key);
    if (kept instanceof PdfProblem) throw kept;
    if (kept !== undefined) return kept;
    const open = this.#open.get(key) ?? this.#begin(key, parse);
    open.waiting += 1;
    return new Promise((resolve, reject) => {
      const leave = () => {
        open.waiting -= 1;
        if (open.waiting === 0) open.controller.abort(signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      open.result.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    });
  }

  #begin(key: string, parse: (signal: AbortSignal) => Promise<PdfText>): OpenParse {
    const controller = new AbortController();
    const result = parse(controller.signal);
    const open: OpenParse = { result, controller, waiting: 0 };
    this.#open.set(key, open);
    result
      .then(
        (text) => void this.#kept.set(key, text),
        (error: unknown) => {
          if (error instanceof PdfProblem) this.#kept.set(key, error);
        },
      )
      .finally(() => this.#open.delete(key));
    return open;
  }
}
