import type { OutputItem, Part } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Result } from '../../ir/result.ts';

/** Kinds of parts that are not text. */
const MEDIA: ReadonlySet<Part['type']> = new Set<Part['type']>(['image', 'file', 'audio', 'video']);

/** Images, files, audio and video of a prompt, and how many of them are audio. */
export function mediaOfPrompt({ items }: GenerationRequest): {
  readonly all: number;
  readonly audio: number;
} {
  let all = 0;
  let audio = 0;
  for (const item of items) {
    for (const { type } of partsOf(item)) {
      if (type === 'text' || !MEDIA.has(type)) continue;
      all += 1;
      if (type === 'audio') audio += 1;
    }
  }
  return { all, audio };
}

/** Images in an answer. */
export function mediaOfResult({ items }: Result): number {
  let images = 0;
  for (const { type } of items) if (type === 'image') images += 1;
  return images;
}

/** Distinct source addresses that an answer cites. */
export function citationsOf({ items }: Result): number {
  let addresses: Set<string> | undefined;
  for (const item of items) {
    for (const part of partsOf(item)) {
      if (part.type !== 'text' || part.annotations === undefined) continue;
      addresses ??= new Set();
      for (const annotation of part.annotations) {
        if (annotation.type === 'url-citation') addresses.add(annotation.url);
      }
    }
  }
  return addresses?.size ?? 0;
}

const NO_PARTS: readonly Part[] = [];

function partsOf(item: OutputItem): readonly Part[] {
  return item.type === 'message' || item.type === 'tool-result' ? item.content : NO_PARTS;
}
