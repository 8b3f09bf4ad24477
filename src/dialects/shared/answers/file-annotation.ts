import type { Annotation } from '../../../ir/items.ts';
import type { JsonObject } from '../../../kit/json/json.ts';

export interface ParsedFile {
  readonly name: string;
  /** SHA-256 of its content. */
  readonly hash: string;
  readonly text: string;
}

/** The annotation of an answer that names a parsed file. Only the chat format has it. */
export function fileAnnotation(file: ParsedFile): Annotation {
  return { type: 'opaque', dialect: 'chat', value: writtenFile(file) };
}

/** A parsed file as the chat format writes it, and as errors of every format list it. */
export function writtenFile({ name, hash, text }: ParsedFile): JsonObject {
  return { type: 'file', file: { hash, name, content: [{ type: 'text', text }] } };
}
