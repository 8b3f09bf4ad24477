import { FairPlaces, type PlaceOwner } from '../kit/loop/fair-places.ts';
import { runInTurns, type Sliced } from '../kit/loop/turns.ts';
import type { EgressReply } from '../net/egress/egress.ts';
import { readablePage } from './html/readable-text.ts';
import { isPdf, pdfText } from './pdf-text.ts';

/** Content that has no text. */
export class Unreadable extends Error {}

export interface PageText {
  readonly title: string;
  readonly text: string;
}

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/;
const PLAIN = /^text\/|[/+](?:json|xml|yaml|x-yaml|javascript|x-ndjson|toml)$/;

export interface Reading {
  readonly signal: AbortSignal;
  readonly owner: PlaceOwner;
  readonly maxCharacters: number;
}

/** Pages that are read at the same time, of all accounts and of one: each takes a slice of every turn. */
const READING_PLACES = new FairPlaces(2, 1);

/** The text of a fetched content. Rejects with Unreadable, a PdfProblem or the signal's reason. */
export async function textOf(
  { headers, bytes, isCut }: EgressReply,
  { signal, owner, maxCharacters }: Reading,
): Promise<PageText> {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const kind = type.trim();
  if (kind === 'application/pdf' || isPdf(bytes)) {
    if (isCut) throw new Unreadable('the file is too large');
    return { title: '', text: (await pdfText(bytes, { signal, owner })).text };
  }
  const isUnknown = kind === '' || kind === 'application/octet-stream';
  const isHtml =
    HTML.test(kind) || (isUnknown && /^\s*<(?:!doctype|html)/i.test(bytes.toString('latin1', 0, 512)));
  if (!isHtml && !PLAIN.test(kind) && !(isUnknown && !hasControls(bytes))) {
    throw new Unreadable('the content is of a type that has no readable text');
  }
  const charset = charsetOf(parameters, isHtml ? bytes : undefined);
  return READING_PLACES.within(owner, signal, () =>
    runInTurns(isHtml ? readHtml(bytes, charset, maxCharacters) : readPlain(bytes, charset, maxCharacters)),
  );
}

/** Bytes at the beginning of a content that show whether it is text. */
const SNIFFED_BYTES = 4096;

/** Control characters that texts have: blanks, backspace and escape. */
const TEXT_CONTROLS: ReadonlySet<number> = new Set([8, 9, 10, 11, 12, 13, 27]);

function hasControls(bytes: Buffer): boolean {
  return bytes.subarray(0, SNIFFED_BYTES).some((byte) => byte < 32 && !TEXT_CONTROLS.has(byte));
}

function* readHtml(bytes: Buffer, charset: string, maxCharacters: number): Sliced<PageText> {
  const html = yield* decoded(bytes, charset, Number.POSITIVE_INFINITY);
  return yield* readablePage(html, maxCharacters);
}

function* readPlain(bytes: Buffer, charset: string, maxCharacters: number): Sliced<PageText> {
  return { title: '', text: yield* decoded(bytes, charset, maxCharacters) };
}

/** Bytes at the beginning of a page among which it may name its character set. */
const CHARSET_BYTES = 2048;

function charsetOf(parameters: readonly string[], page: Buffer | undefined): string {
  const declared = parameters.map((parameter) => /^\s*charset="?([\w:-]+)/.exec(parameter)?.[1]);
  const inPage =
    page && /<meta[^>]{0,200}charset=["']?\s*([\w:-]+)/i.exec(page.toString('latin1', 0, CHARSET_BYTES));
  return declared.find((name) => name !== undefined) ?? inPage?.[1] ?? 'utf-8';
}

/** Bytes that are decoded in a slice: some character sets take a hundred nanoseconds for each. */
const DECODED_BYTES = 65_536;

/** At least so many characters of a text, or all of it. */
function* decoded(bytes: Buffer, charset: string, maxCharacters: number): Sliced<string> {
  const decoder = decoderOf(charset);
  const pieces: string[] = [];
  let characters = 0;
  for (let from = 0; from < bytes.length && characters < maxCharacters; from += DECODED_BYTES) {
    if (from > 0) yield;
    const isLast = from + DECODED_BYTES >= bytes.length;
    const piece = decoder.decode(bytes.subarray(from, from + DECODED_BYTES), { stream: !isLast });
    characters += piece.length;
    pieces.push(piece);
  }
  return pieces.join('');
}

function decoderOf(charset: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset);
  } catch {
    // Unknown character set: read as UTF-8.
    return new TextDecoder();
  }
}
