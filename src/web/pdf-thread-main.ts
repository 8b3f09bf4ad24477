import { readFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { answerQuestions } from '../kit/thread/answer-questions.ts';
import type { PdfProcessTask, PdfReport } from './pdf-task.ts';

// Reads pages with PDF.js, with the values of forms and the texts of annotations. A page that cannot be read is left
// out; many of them in a row end the reading, because a file may declare any number of pages. Attached files are not
// read: the text is not all of the file then.

const MAX_MISSING_PAGES = 20;

/** PDF.js leaves out what stands outside of the visible page, and has no option for it. */
const VISIBLE = 'viewBox:this.view,lang:';
const EVERYWHERE = 'viewBox:[-Infinity,-Infinity,Infinity,Infinity],lang:';

const { library, limits, readsHidden, onlyCounts } = workerData as PdfProcessTask;

answerQuestions<Uint8Array, PdfReport>({
  async answer(bytes) {
    try {
      return await read(bytes);
    } catch (error) {
      return { problem: (error as Error | undefined)?.name === 'PasswordException' ? 'password' : 'broken' };
    }
  },
});

async function read(bytes: Uint8Array): Promise<PdfReport> {
  const { getDocument }: PdfLibrary = await import(readsHidden ? withHiddenText(library) : library);
  const document = await getDocument({
    data: bytes,
    isEvalSupported: false,
    useSystemFonts: true,
    disableFontFace: true,
    useWorkerFetch: false,
    enableXfa: false,
    disableAutoFetch: true,
    verbosity: 0,
    maxImageSize: 1,
  }).promise;
  if (onlyCounts && document.numPages > 0) return { text: '', pages: document.numPages, isCut: false };
  if (onlyCounts) return { problem: 'broken' };
  const texts: string[] = [];
  let characters = 0;
  let missing = 0;
  let isCut = await document.getAttachments().then(
    (files) => files !== null,
    () => true,
  );
  for (let number = 1; number <= document.numPages; number++) {
    if (number > limits.pages || characters > limits.characters) {
      isCut = true;
      break;
    }
    try {
      const { text, isWhole } = await readPage(
        await document.getPage(number),
        limits.characters - characters,
      );
      if (!isWhole) isCut = true;
      characters += text.length;
      texts.push(text.trim());
      missing = 0;
    } catch {
      isCut = true;
      missing += 1;
      if (missing >= MAX_MISSING_PAGES) break;
    }
  }
  if (texts.length === 0) return { problem: 'broken' };
  const whole = texts.join('\n\n').trim();
  return {
    text: whole.slice(0, limits.characters).trimEnd().toWellFormed(),
    pages: texts.length,
    isCut: isCut || whole.length > limits.characters,
  };
}

/** The text of a page up to about a number of characters, with its annotations; `isWhole` if those could be read. */
async function readPage(page: PdfPage, most: number): Promise<{ text: string; isWhole: boolean }> {
  let text = '';
  for (const { str, hasEOL } of (await page.getTextContent()).items) {
    if (str === undefined) continue;
    text += hasEOL ? `${str}\n` : str;
    if (text.length > most) break;
  }
  const notes = await page.getAnnotations().catch(() => undefined);
  for (const note of notes ?? []) text += annotated(note);
  page.cleanup();
  return { text, isWhole: notes !== undefined };
}

function annotated({ fieldName, fieldValue, contentsObj, textContent, titleObj }: PdfAnnotation): string {
  const value = Array.isArray(fieldValue) ? fieldValue.join(', ') : fieldValue;
  const texts =
    isText(fieldName) && isText(value)
      ? [`${fieldName}: ${value}`]
      : [titleObj?.str, contentsObj?.str ?? textContent?.join('\n')].filter(isText);
  return texts.map((text) => `\n${text}`).join('');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** The library, changed so that it reads text outside of the visible page. */
function withHiddenText(address: string): string {
  const source = readFileSync(new URL(address), 'utf8');
  if (!source.includes(VISIBLE)) throw new Error('another version of PDF.js');
  return `data:text/javascript;base64,${Buffer.from(source.replaceAll(VISIBLE, EVERYWHERE)).toString('base64')}`;
}

/** The part of PDF.js that is used here. */
interface PdfLibrary {
  getDocument(options: object): { readonly promise: Promise<PdfDocument> };
}

interface PdfDocument {
  readonly numPages: number;
  getAttachments(): Promise<object | null>;
  getPage(number: number): Promise<PdfPage>;
}

interface PdfPage {
  getTextContent(): Promise<{
    readonly items: readonly { readonly str?: string; readonly hasEOL?: boolean }[];
  }>;
  getAnnotations(): Promise<readonly PdfAnnotation[]>;
  cleanup(): void;
}

interface PdfAnnotation {
  readonly fieldName?: unknown;
  readonly fieldValue?: unknown;
  readonly contentsObj?: { readonly str?: unknown };
  readonly textContent?: readonly string[];
  readonly titleObj?: { readonly str?: unknown };
}
