import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { FairPlaces, type PlaceOwner } from '../kit/loop/fair-places.ts';
import type { PdfLimits, PdfProblemReason, PdfProcessTask, PdfReport } from './pdf-task.ts';

export interface PdfText {
  /** Pages are separated by an empty line. */
  readonly text: string;
  readonly pages: number;
  /** The file has more pages or more text. */
  readonly isCut: boolean;
}

/** A file that could not be read. Its message continues a sentence whose subject is the file. */
export class PdfProblem extends Error {
  readonly reason: PdfProblemReason;

  constructor(reason: PdfProblemReason) {
    super(MESSAGES[reason]);
    this.name = 'PdfProblem';
    this.reason = reason;
  }
}

const MESSAGES: Readonly<Record<PdfProblemReason, string>> = {
  broken: 'is no PDF that can be read',
  password: 'is a PDF that needs a password',
  time: 'is a PDF that takes too long to read',
  memory: 'is a PDF that takes too much memory to read',
};

/** The memory counts beside what the file takes itself: the process and PDF.js take 66 MB of it. */
export const PDF_LIMITS: PdfLimits = {
  processorMs: 8_000,
  totalMs: 30_000,
  memoryBytes: 160 * 1024 * 1024,
  pages: 2_000,
  characters: 4_000_000,
};

/** How often the bytes of a file are in the memory of its process: as they come, joined, and in the reader. */
const COPIES_OF_FILE = 3;

/**
 * Processes that read at the same time, of all accounts and of one; further files wait. Their memory adds up beside
 * that of the gateway.
 */
const PLACES = new FairPlaces(2, 1);

export interface PdfTask {
  readonly signal: AbortSignal;
  /** Who brings the file: no account keeps others waiting, and no key of it the other keys. */
  readonly owner?: PlaceOwner;
  readonly limits?: PdfLimits;
  /** Text outside of the visible pages is read too: other readers may find it. */
  readonly readsHidden?: boolean;
}

/** Old space of the process's main thread, which holds little, and new space of each of its threads, megabytes. */
const SPACES = ['--max-old-space-size=64', '--max-semi-space-size=2'];

const PROGRAM = fileURLToPath(new URL('./pdf-process-main.js', import.meta.url));

/** Most bytes of a report: a character of text takes at most six, escaped. */
const MAX_REPORT_BYTES = 6 * PDF_LIMITS.characters + 1024;

/**
 * The text of a PDF file, read in a process of its own, which is killed at the limits. Rejects with a PdfProblem, or
 * the signal's reason.
 */
export function pdfText(
  bytes: Uint8Array,
  { signal, owner = '', limits = PDF_LIMITS, readsHidden = false }: PdfTask,
): Promise<PdfText> {
  if (!isPdf(bytes)) return Promise.reject(new PdfProblem('broken'));
  return PLACES.within(owner, signal, () => run(bytes, { signal, limits, readsHidden, onlyCounts: false }));
}

/** The pages that a PDF file says it has, without their text. Rejects as `pdfText` does. */
export async function pdfPages(
  bytes: Uint8Array,
  { signal, owner = '' }: Pick<PdfTask, 'signal' | 'owner'>,
): Promise<number> {
  if (!isPdf(bytes)) throw new PdfProblem('broken');
  const task = { signal, limits: PDF_LIMITS, readsHidden: false, onlyCounts: true };
  const { pages } = await PLACES.within(owner, signal, () => run(bytes, task));
  return pages;
}

/** Bytes at the beginning among which the mark of a PDF must stand. */
const HEAD_BYTES = 1024;

export function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES)).includes('%PDF-');
}

interface Reading extends Omit<PdfProcessTask, 'library'> {
  readonly signal: AbortSignal;
}

function run(bytes: Uint8Array, { signal, ...asked }: Reading): Promise<PdfText> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const memoryBytes = asked.limits.memoryBytes + COPIES_OF_FILE * bytes.length;
    const limits = { ...asked.limits, memoryBytes };
    const task: PdfProcessTask = { library: libraryAddress(), ...asked, limits };
    // No environment: the process needs none, and it holds secrets.
    const child = spawn(process.execPath, [...SPACES, PROGRAM, JSON.stringify(task)], {
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const pieces: Buffer[] = [];
    let length = 0;
    // The process ends itself at the limits; this ends one that cannot any more, or has not begun yet.
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, asked.limits.totalMs + 1000);
    const giveUp = () => child.kill('SIGKILL');
    signal.addEventListener('abort', giveUp, { once: true });
    child.stdin.on('error', () => {});
    child.stdout.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length <= MAX_REPORT_BYTES) pieces.push(piece);
      else giveUp();
    });
    child.on('error', () => reject(new PdfProblem('broken')));
    child.on('close', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      if (signal.aborted) return reject(signal.reason);
      const report = reportIn(Buffer.concat(pieces).toString(), isLate);
      if ('problem' in report) reject(new PdfProblem(report.problem));
      else resolve(report);
    });
    child.stdin.end(bytes);
  });
}

/** A process that ends without a report was out of memory, unless we ended it (`isLate`). */
function reportIn(text: string, isLate: boolean): PdfReport {
  try {
    return JSON.parse(text) as PdfReport;
  } catch {
    return { problem: isLate ? 'time' : 'memory' };
  }
}

function libraryAddress(): string {
  const main = createRequire(import.meta.url).resolve('unpdf');
  return pathToFileURL(join(dirname(main), 'pdfjs.mjs')).href;
}
