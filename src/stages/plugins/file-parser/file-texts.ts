import type { ParsedFile } from '../../../dialects/shared/answers/file-annotation.ts';
import { GatewayError } from '../../../ir/errors.ts';
import type { Part } from '../../../ir/items.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import { countText } from '../../../kit/text/count-text.ts';
import type { Egress } from '../../../net/egress/egress.ts';
import { isPdf, PdfProblem, type PdfText, pdfText } from '../../../web/pdf-text.ts';
import { textOwner } from '../../../web/text-owner.ts';
import type { FilesAsText } from '../../guardrails/native-files.ts';
import type { StageContext } from '../../stage.ts';
import { contentOf, type FileContent } from './file-bytes.ts';
import { fileRefused } from './file-refused.ts';
import { type FilePart, nameOf, parsableFiles, unreadableFiles, withFilesReplaced } from './find-files.ts';
import { ParsedTexts } from './parsed-texts.ts';

/** Files that are parsed for one request: each may take a process some seconds. */
const MAX_FILES = 16;

/** Turns the bytes of a file into text. `kind`: texts of different readers are kept apart. */
export interface FileReader {
  readonly kind: string;
  /** Called before a content is read that was not read before. Rejects if it must not be. */
  begin?(bytes: Uint8Array, name: string): Promise<void>;
  read(bytes: Uint8Array, signal: AbortSignal): Promise<PdfText>;
}

export interface FileText extends PdfText {
  readonly name: string;
  readonly content: FileContent;
}

/** Reads the files of requests, each content once. */
export class FileTexts {
  readonly #egress: Egress;
  readonly #texts = new ParsedTexts();

  constructor(egress: Egress) {
    this.#egress = egress;
  }

  /** The files of a request that may be read. Throws 400 if they are too many. */
  filesIn(request: GenerationRequest): readonly FilePart[] {
    const files = parsableFiles(request);
    if (files.length <= MAX_FILES) return files;
    throw new GatewayError(
      'invalid-request',
      `A request may have at most ${MAX_FILES} files that are parsed`,
    );
  }

  /** Rejects with a 400 that names the file if it cannot be read. */
  async of(file: FilePart, reader: FileReader, signal: AbortSignal): Promise<FileText> {
    const name = nameOf(file);
    const content = await contentOf(file, this.#egress, signal);
    if (!isPdf(content.bytes)) throw fileRefused(name, 'is no PDF that can be read');
    const key = `${reader.kind} ${content.hash}`;
    try {
      if (!this.#texts.has(key)) await reader.begin?.(content.bytes, name);
      const text = await this.#texts.of(key, signal, (own) => reader.read(content.bytes, own));
      return { ...text, name, content };
    } catch (error) {
      throw error instanceof PdfProblem ? fileRefused(name, error.message) : error;
    }
  }

  readonly asText: FilesAsText = async (request, context) => {
    const files = this.filesIn(request);
    const unread = unreadableFiles(request).map(nameOf);
    if (files.length + unread.length === 0) return undefined;
    const reader = wholeReader(context);
    const read = new Map<FilePart, FileText>();
    for (const file of files) read.set(file, await this.of(file, reader, context.signal));
    const all = [...read.values()];
    return {
      request: withFilesReplaced(request, (file) => partOf(file, parsedFile(read.get(file)))),
      unread,
      files: all.map(({ name, pages, text }) => ({ name, pages, characters: text.length })),
      // The upstream may find something else behind an address, and what was not read was not scanned.
      isAllOfThem: files.every(({ source }) => source.kind === 'base64') && all.every(({ isCut }) => !isCut),
    };
  };
}

/** Reads in a process of the gateway. */
export function localReader({ caller }: Pick<StageContext, 'caller'>): FileReader {
  return { kind: 'local', read: (bytes, signal) => pdfText(bytes, { signal, owner: textOwner(caller) }) };
}

/** Reads for guardrails, before a model gets the file itself: also what no page shows. */
function wholeReader({ caller }: Pick<StageContext, 'caller'>): FileReader {
  return {
    kind: 'whole',
    read: (bytes, signal) => pdfText(bytes, { signal, owner: textOwner(caller), readsHidden: true }),
  };
}

export function parsedFile(file: FileText): ParsedFile;
export function parsedFile(file: FileText | undefined): ParsedFile | undefined;
export function parsedFile(file: FileText | undefined): ParsedFile | undefined {
  if (file === undefined) return undefined;
  const { name, content, text, pages } = file;
  return {
    name,
    hash: content.hash,
    text: text === '' ? `(${countText(pages, 'page')} without text)` : text,
  };
}

export function partOf(file: FilePart, parsed: ParsedFile | undefined): Part {
  if (parsed === undefined) return file;
  const name = parsed.name.replace(/["<>\n\r]/g, '_');
  const text = `<file name="${name}">\n${parsed.text}\n</file>`;
  return { type: 'text', text, ...(file.cache !== undefined && { cache: file.cache }) };
}
