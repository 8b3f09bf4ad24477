import { constants, deflateRawSync } from 'node:zlib';

/** A PDF file with one page for each text. */
export function pdfOf(...texts: readonly string[]): Buffer {
  const kids = texts.map((_, index) => `${4 + 2 * index} 0 R`).join(' ');
  const pages = texts.flatMap((text, index) => [
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * index} 0 R
       /Resources << /Font << /F 3 0 R >> >> >>`,
    stream(Buffer.from(`BT /F 12 Tf 72 700 Td (${text.replace(/[()\\]/g, '\\$&')}) Tj ET`)),
  ]);
  return pdfFile([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${texts.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages,
  ]);
}

/** A PDF file of these objects, numbered from 1; the first is the catalogue. */
export function pdfFile(objects: readonly (string | Buffer)[]): Buffer {
  const pieces: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  const offsets: number[] = [];
  let length = pieces[0]?.length ?? 0;
  const push = (piece: string | Buffer) => {
    const bytes = Buffer.from(piece as string);
    pieces.push(bytes);
    length += bytes.length;
  };
  objects.forEach((object, index) => {
    offsets.push(length);
    push(`${index + 1} 0 obj\n`);
    push(object);
    push('\nendobj\n');
  });
  const xref = length;
  push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`);
  for (const offset of offsets) push(`${String(offset).padStart(10, '0')} 00000 n \n`);
  push(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${xref}\n%%EOF\n`);
  return Buffer.concat(pieces);
}

export function stream(content: Buffer, filter?: 'FlateDecode', encoded = content): Buffer {
  const name = filter === undefined ? '' : ` /Filter /${filter}`;
  return Buffer.concat([
    Buffer.from(`<< /Length ${encoded.length}${name} >>\nstream\n`),
    encoded,
    Buffer.from('\nendstream'),
  ]);
}

const PAGE = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << >> >>';

/** One page whose content inflates to so many megabytes of blanks. */
export function bombPdf(megabytes: number): Buffer {
  const content = deflatedBlanks(megabytes);
  return pdfFile([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    PAGE,
    stream(Buffer.alloc(0), 'FlateDecode', content),
  ]);
}

/** One compressed megabyte, repeated: the whole is never in memory. */
function deflatedBlanks(megabytes: number): Buffer {
  const { Z_FULL_FLUSH } = constants;
  const blanks = Buffer.alloc(1024 * 1024, 0x20);
  const piece = deflateRawSync(blanks, { level: 9, finishFlush: Z_FULL_FLUSH });
  const zlibHead = Buffer.from([0x78, 0xda]);
  return Buffer.concat([zlibHead, ...Array<Buffer>(megabytes).fill(piece), deflateRawSync(Buffer.alloc(0))]);
}

/** A page tree that holds itself. */
export function circularPdf(): Buffer {
  return pdfFile(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000 >>']);
}

/** One real page, and the claim of many. */
export function boastingPdf(pages: number): Buffer {
  return pdfFile([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [3 0 R] /Count ${pages} >>`,
    PAGE,
    stream(Buffer.from('BT ET')),
  ]);
}
