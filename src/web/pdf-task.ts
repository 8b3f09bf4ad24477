export interface PdfLimits {
  /** Milliseconds of the processor: of a busy machine the process may have a part only. */
  readonly processorMs: number;
  /** Milliseconds for everything, the start of the process included. */
  readonly totalMs: number;
  /** Resident memory of the process, bytes. */
  readonly memoryBytes: number;
  /** Later pages are not read. */
  readonly pages: number;
  /** Characters of all pages; what is beyond is left out. */
  readonly characters: number;
}

/** What the process is started with, as JSON. */
export interface PdfProcessTask {
  /** The address of PDF.js. */
  readonly library: string;
  readonly limits: PdfLimits;
  /** Text outside of the visible pages is read too. */
  readonly readsHidden: boolean;
  /** The number of pages is all that is wanted. */
  readonly onlyCounts: boolean;
}

/** Standard output of the process, as JSON. */
export type PdfReport =
  | { readonly text: string; readonly pages: number; readonly isCut: boolean }
  | { readonly problem: PdfProblemReason };

/** `broken`: no PDF, or nothing in it can be read. */
export type PdfProblemReason = 'broken' | 'password' | 'time' | 'memory';
