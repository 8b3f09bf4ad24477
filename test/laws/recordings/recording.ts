import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rowOf } from '../../../src/catalog/providers/provider-rows.ts';
import type { DialectName } from '../../../src/ir/items.ts';
import type { Quirks } from '../../../src/ir/quirks.ts';
import { isJsonObject, type JsonObject } from '../../../src/kit/json/json.ts';
import { awsStream } from '../../kit/fixtures/bedrock/aws-events.ts';

/** What an upstream once answered, as `index.json` of its folder lists it. */
export interface Recording {
  /** Path below the folder. */
  readonly file: string;
  readonly format: string;
  /** Slug of the provider that it is an answer of; absent = the name of the folder. */
  readonly provider?: string;
  /** What it is an example of, in words. */
  readonly shows: string;
  /** The HTTP status it came with, where that is known. */
  readonly status?: number;
  readonly bytes: Buffer;
}

/** One answer of a recording, as it came over the wire. Agents record several, one after another. */
export type Answer = {
  /** Of the provider that it was recorded from. */
  readonly quirks?: Quirks | undefined;
} & (
  | { readonly kind: 'stream'; readonly dialect: DialectName; readonly bytes: Buffer }
  | { readonly kind: 'body'; readonly dialect: DialectName; readonly body: JsonObject }
  | {
      readonly kind: 'error';
      readonly dialect: DialectName;
      readonly body: JsonObject;
      readonly status: number;
    }
);

/** The recordings of a folder, in the order of its index. */
export function readRecordings(folder: string): Recording[] {
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as Omit<Recording, 'bytes'>[];
  return index.map((entry) => ({ ...entry, bytes: readFileSync(join(folder, entry.file)) }));
}

/** The answers in a recording, in any of its file formats. */
export function answersIn(recording: Recording): Answer[] {
  const read = READERS.find(([format]) => format.test(recording.format))?.[1];
  if (read === undefined)
    throw new Error(`${recording.file}: there is no decoder for the format ${recording.format}`);
  const provider = recording.provider ?? recording.file.split('/', 1)[0] ?? '';
  const quirks = rowOf(provider)?.quirks;
  return read(recording).map((answer) => ({ ...answer, quirks }));
}

const READERS: readonly (readonly [RegExp, (recording: Recording) => Answer[]])[] = [
  [/one JSON chunk per line/i, readLines],
  [/SSE/i, readServerSentEvents],
  [/JSON body/i, readBody],
  [/AWS event-stream/i, ({ bytes }) => [{ kind: 'stream', dialect: 'bedrock', bytes }]],
];

/** Chunks without their framing: they get back the one that their dialect has. */
function readLines({ bytes }: Recording): Answer[] {
  const lines = bytes.toString().split('\n').filter(isFilled);
  const answers: { readonly dialect: DialectName; readonly chunks: string[] }[] = [];
  for (const line of lines) {
    const chunk = JSON.parse(line) as JsonObject;
    const last = answers.at(-1);
    if (last === undefined || chunk.type === 'response.created') {
      answers.push({ dialect: dialectOf(chunk), chunks: [line] });
    } else last.chunks.push(line);
  }
  return answers.map(({ dialect, chunks }) => ({ kind: 'stream', dialect, bytes: framed(dialect, chunks) }));
}

function framed(dialect: DialectName, chunks: readonly string[]): Buffer {
  if (dialect === 'bedrock') return awsStream(chunks.map((chunk) => JSON.parse(chunk) as JsonObject));
  return Buffer.from(chunks.map((chunk) => `data: ${chunk}\n\n`).join(''));
}

function readServerSentEvents({ bytes, file }: Recording): Answer[] {
  const first = /^data: ?(\{.*)$/m.exec(bytes.toString())?.[1];
  if (first === undefined) throw new Error(`${file}: there is no data in it`);
  return [{ kind: 'stream', dialect: dialectOf(JSON.parse(first) as JsonObject), bytes }];
}

function readBody({ bytes, status }: Recording): Answer[] {
  const body = JSON.parse(bytes.toString()) as JsonObject;
  const dialect = dialectOf(body);
  const error = isJsonObject(body.error) ? body.error : undefined;
  if (error === undefined) return [{ kind: 'body', dialect, body }];
  return [{ kind: 'error', dialect, body, status: status ?? Number(error.code) }];
}

/** The dialect that has this shape. The folder of a recording does not determine it: most vendors speak several. */
function dialectOf(value: JsonObject): DialectName {
  const type = typeof value.type === 'string' ? value.type : '';
  if (type.startsWith('response.') || value.object === 'response') return 'responses';
  if (/^(message|ping$|content_block_|error$)/.test(type) && !type.includes('-')) return 'messages';
  if ('candidates' in value || 'usageMetadata' in value || isGoogleError(value)) return 'gemini';
  if (BEDROCK_MEMBERS.some((member) => member in value)) return 'bedrock';
  return 'chat';
}

function isGoogleError({ error }: JsonObject): boolean {
  return isJsonObject(error) && typeof error.status === 'string' && Array.isArray(error.details);
}

const BEDROCK_MEMBERS = ['messageStart', 'contentBlockStart', 'contentBlockDelta', 'output'];

function isFilled(line: string): boolean {
  return line.trim() !== '';
}
