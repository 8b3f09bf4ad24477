import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PDF_LIMITS, PdfProblem, pdfText } from '../../../../src/web/pdf-text.ts';
import { boastingPdf, bombPdf, circularPdf, pdfFile, pdfOf, stream } from '../../../kit/builders/pdf.ts';

const { signal } = new AbortController();

it('reads the text of all pages', async () => {
  const read = await pdfText(pdfOf('Hello (world)', 'Second page'), { signal });
  expect(read).toEqual({ text: 'Hello (world)\n\nSecond page', pages: 2, isCut: false });
});

it('reads no more pages and characters than the limits', async () => {
  const file = pdfOf('one', 'two', 'three');
  const few = await pdfText(file, { signal, limits: { ...PDF_LIMITS, pages: 2 } });
  expect(few).toEqual({ text: 'one\n\ntwo', pages: 2, isCut: true });
  const short = await pdfText(file, { signal, limits: { ...PDF_LIMITS, characters: 4 } });
  expect(short).toMatchObject({ text: 'one', isCut: true });
});

const CATALOG = '<< /Type /Catalog /Pages 2 0 R >>';
const pageWith = (more: string) =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << >> ${more} >>`;
const onePage = '<< /Type /Pages /Kids [3 0 R] /Count 1 >>';
const empty = stream(Buffer.from('BT ET'));

it('reads the values of forms and the texts of annotations', async () => {
  const file = pdfFile([
    CATALOG.replace('>>', '/AcroForm << /Fields [5 0 R] >> >>'),
    onePage,
    pageWith('/Annots [5 0 R 6 0 R 7 0 R]'),
    empty,
    '<< /Type /Annot /Subtype /Widget /FT /Tx /T (number) /V (123-45-6789) /Rect [0 0 9 9] >>',
    '<< /Type /Annot /Subtype /Text /T (Ada) /Contents (Call 555) /Rect [0 0 9 9] >>',
    '<< /Type /Annot /Subtype /FreeText /Contents (Free text) /DA (/F 1 Tf) /Rect [0 0 9 9] >>',
  ]);
  const { text, isCut } = await pdfText(file, { signal });
  expect(text).toBe('Ada\nCall 555\nFree text\nnumber: 123-45-6789');
  expect(isCut).toBe(false);
});

it('tells that a file holds more than was read: attached files, pages that cannot be read', async () => {
  const attached = pdfFile([
    CATALOG.replace('>>', '/Names << /EmbeddedFiles << /Names [(a.txt) 5 0 R] >> >> >>'),
    onePage,
    pageWith(''),
    empty,
    '<< /Type /Filespec /F (a.txt) /EF << /F 6 0 R >> >>',
    stream(Buffer.from('123-45-6789')),
  ]);
  expect(await pdfText(attached, { signal })).toMatchObject({ pages: 1, isCut: true });
  const broken = pdfFile([CATALOG, '<< /Type /Pages /Kids [3 0 R 9 0 R] /Count 2 >>', pageWith(''), empty]);
  expect(await pdfText(broken, { signal })).toMatchObject({ pages: 1, isCut: true });
});

it('reads what no page shows only if it is asked to', async () => {
  const text = 'BT /F 12 Tf 72 700 Td (shown) Tj 0 -5000 Td (hidden) Tj ET';
  const file = pdfFile([
    CATALOG,
    onePage,
    pageWith('').replace('/Resources << >>', '/Resources << /Font << /F 5 0 R >> >>'),
    stream(Buffer.from(text)),
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]);
  expect((await pdfText(file, { signal })).text).toBe('shown');
  expect((await pdfText(file, { signal, readsHidden: true })).text).toMatch(/^shown\s*hidden$/);
});

it('is given up with its request', async () => {
  const controller = new AbortController();
  const reading = pdfText(pdfOf('Hello'), { signal: controller.signal });
  controller.abort(new Error('left'));
  await expect(reading).rejects.toThrow('left');
});

/** The longest that this thread could not do anything else, milliseconds, while something runs. */
async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  await run();
  clearInterval(timer);
  return longest;
}

/** The most resident memory that the processes which this one started have together while something runs. */
async function mostMegabytesOfChildren(run: () => Promise<unknown>): Promise<number> {
  let most = 0;
  const timer = setInterval(() => {
    const ids = readdirSync('/proc/self/task').flatMap((thread) =>
      readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' '),
    );
    most = Math.max(
      most,
      ids.reduce((sum, id) => sum + residentMegabytes(id), 0),
    );
  }, 10);
  await run();
  clearInterval(timer);
  return most;
}

function residentMegabytes(id: string): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    // It has ended.
    return 0;
  }
}

describe('a hostile file', () => {
  it('that inflates from 2 MB to 2 GB is given up within the limits of memory and time', async () => {
    const file = bombPdf(2000);
    expect(file.length).toBeLessThan(2.5e6);
    const before = process.memoryUsage.rss();
    const began = performance.now();
    const turn = await longestTurn(async () => {
      const problem = await pdfText(file, { signal }).catch((error: unknown) => error);
      expect(problem).toBeInstanceOf(PdfProblem);
      expect((problem as PdfProblem).reason).toMatch(/memory|time/);
    });
    expect(performance.now() - began).toBeLessThan(PDF_LIMITS.totalMs + 10_000);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100e6);
    expect(turn).toBeLessThan(1000);
  });

  it.runIf(process.platform === 'linux')('and others of its kind take little memory together', async () => {
    const megabytes = await mostMegabytesOfChildren(() =>
      Promise.allSettled(['a', 'b', 'c', 'c'].map((owner) => pdfText(bombPdf(400), { signal, owner }))),
    );
    expect(megabytes).toBeGreaterThan(60);
    expect(megabytes).toBeLessThan(2 * 200);
  });

  it.each([
    ['whose page tree holds itself', circularPdf()],
    ['that has no pages', pdfFile(['<< /Type /Catalog >>'])],
    ['that is cut off', pdfOf('Hello').subarray(0, 100)],
    ['that is no PDF', Buffer.from('PK\u0003\u0004')],
  ])('%s is broken', async (_, file) => {
    await expect(pdfText(file, { signal })).rejects.toMatchObject({ reason: 'broken' });
  });

  it('that claims a million pages has those that are there', async () => {
    await expect(pdfText(boastingPdf(1_000_000), { signal })).resolves.toMatchObject({ pages: 1 });
  });

  it('that takes too long is given up', async () => {
    const limits = { ...PDF_LIMITS, totalMs: 20 };
    await expect(pdfText(pdfOf('Hello'), { signal, limits })).rejects.toMatchObject({ reason: 'time' });
    // On a busy machine the process may not even have begun when it is killed from outside.
    const none = { ...PDF_LIMITS, totalMs: -1_000 };
    await expect(pdfText(pdfOf('Hello'), { signal, limits: none })).rejects.toMatchObject({ reason: 'time' });
    const few = { ...PDF_LIMITS, processorMs: 20 };
    await expect(pdfText(pdfOf('Hello'), { signal, limits: few })).rejects.toMatchObject({ reason: 'time' });
  });
});
