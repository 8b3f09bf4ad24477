/** Limits of one reading. */
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

/** Standard output of the program, as JSON. */
export type PdfReport =
  | { readonly text: string; readonly pages: number; readonly isCut: boolean }
  | { readonly problem: PdfProblemReason };

/** `broken`: no PDF, or nothing in it can be read. */
export type PdfProblemReason = 'broken' | 'password' | 'time' | 'memory';

/**
 * Reads pages with PDF.js, in a thread, with the values of forms and the texts of annotations. `library`: the address
 * of PDF.js. A page that cannot be read is left out; many of them in a row end the reading, because a file may declare
 * any number of pages. Attached files are not read: the text is not all of the file then.
 */
const READER = `
const { parentPort, workerData } = require('node:worker_threads');
const MAX_MISSING_PAGES = 20;
const isText = (value) => typeof value === 'string' && value !== '';
function annotated({ fieldName, fieldValue, contentsObj, textContent, titleObj }) {
  const value = Array.isArray(fieldValue) ? fieldValue.join(', ') : fieldValue;
  const texts = isText(fieldName) && isText(value) ? [fieldName + ': ' + value]
    : [titleObj?.str, contentsObj?.str ?? textContent?.join('\\n')].filter(isText);
  return texts.map((text) => '\\n' + text).join('');
}
// PDF.js leaves out what stands outside of the visible page, and has no option for it.
const VISIBLE = 'viewBox:this.view,lang:', EVERYWHERE = 'viewBox:[-Infinity,-Infinity,Infinity,Infinity],lang:';
function everywhere(library) {
  const source = require('node:fs').readFileSync(new URL(library), 'utf8');
  if (!source.includes(VISIBLE)) throw new Error('another version of PDF.js');
  return 'data:text/javascript;base64,' + Buffer.from(source.replaceAll(VISIBLE, EVERYWHERE)).toString('base64');
}
async function read({ library, bytes, limits, readsHidden, onlyCounts }) {
  const { getDocument } = await import(readsHidden ? everywhere(library) : library);
  const opened = getDocument({
    data: bytes, isEvalSupported: false, useSystemFonts: true, disableFontFace: true, useWorkerFetch: false,
    enableXfa: false, disableAutoFetch: true, verbosity: 0, maxImageSize: 1,
  });
  const document = await opened.promise;
  if (onlyCounts && document.numPages > 0) return { text: '', pages: document.numPages, isCut: false };
  if (onlyCounts) return { problem: 'broken' };
  const texts = [];
  let characters = 0, missing = 0;
  let isCut = await document.getAttachments().then((files) => files !== null, () => true);
  for (let number = 1; number <= document.numPages; number++) {
    if (number > limits.pages || characters > limits.characters) { isCut = true; break; }
    try {
      const page = await document.getPage(number);
      let text = '';
      for (const { str, hasEOL } of (await page.getTextContent()).items) {
        if (str === undefined) continue;
        text += hasEOL ? str + '\\n' : str;
        if (characters + text.length > limits.characters) break;
      }
      const notes = await page.getAnnotations().catch(() => { isCut = true; return []; });
      for (const note of notes) text += annotated(note);
      page.cleanup();
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
  const whole = texts.join('\\n\\n').trim();
  return {
    text: whole.slice(0, limits.characters).trimEnd().toWellFormed(),
    pages: texts.length,
    isCut: isCut || whole.length > limits.characters,
  };
}
read(workerData).then(
  (report) => parentPort.postMessage(report),
  (error) => parentPort.postMessage({ problem: error?.name === 'PasswordException' ? 'password' : 'broken' }),
);
`;

/**
 * The program of the process: its main thread reads the file from standard input, has a thread read the pages, and
 * ends the process when that takes too long or too much memory. Buffers count towards no limit of a thread, so the
 * memory of the whole process is watched.
 */
export const PDF_PROGRAM = `
const { Worker } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const { library, limits, readsHidden, onlyCounts } = JSON.parse(process.argv[1]);
const end = (report) => {
  const bytes = Buffer.from(JSON.stringify(report));
  for (let from = 0; from < bytes.length; ) {
    try { from += writeSync(1, bytes, from); } catch (error) { if (error.code !== 'EAGAIN') break; }
  }
  process.kill(process.pid, 'SIGKILL');
};
setTimeout(() => end({ problem: 'time' }), limits.totalMs);
setInterval(() => {
  const { user, system } = process.cpuUsage();
  if ((user + system) / 1000 > limits.processorMs) end({ problem: 'time' });
  if (process.memoryUsage.rss() > limits.memoryBytes) end({ problem: 'memory' });
}, 5);
const chunks = [];
process.stdin.on('data', (chunk) => chunks.push(chunk));
process.stdin.on('end', () => {
  const bytes = new Uint8Array(Buffer.concat(chunks));
  chunks.length = 0;
  const thread = new Worker(${JSON.stringify(READER)}, {
    eval: true,
    workerData: { library, bytes, limits, readsHidden, onlyCounts },
    transferList: [bytes.buffer],
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(limits.memoryBytes / 1048576 / 2) },
    stdout: true,
    stderr: true,
  });
  thread.on('message', end);
  thread.on('error', (error) => end({ problem: error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'broken' }));
});
`;
