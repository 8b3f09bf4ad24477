import type { Item, Part } from '../ir/items.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Result } from '../ir/result.ts';

/** Kinds of parts that are not words. */
const MEDIA: ReadonlySet<Part['type']> = new Set<Part['type']>(['image', 'file', 'audio', 'video']);

/** Images, files, recordings and films of a prompt, and how many of them are recordings. */
export function mediaOfPrompt({ items }: GenerationRequest): {
  readonly all: number;
  readonly audio: number;
} {
  const parts = items.flatMap(partsOf);
  return {
    all: parts.filter(({ type }) => MEDIA.has(type)).length,
    audio: parts.filter(({ type }) => type === 'audio').length,
  };
}

/** Images that were made. */
export function mediaOfResult({ items }: Result): number {
  return items.filter(({ type }) => type === 'image').length;
}

/** Addresses that an answer names as its sources, each once. */
export function citationsOf({ items }: Result): number {
  const addresses = items.flatMap(partsOf).flatMap((part) => {
    const annotations = part.type === 'text' ? (part.annotations ?? []) : [];
    return annotations.flatMap((annotation) => (annotation.type === 'url-citation' ? annotation.url : []));
  });
  return new Set(addresses).size;
}

function partsOf(item: Item): readonly Part[] {
  return item.type === 'message' || item.type === 'tool-result' ? item.content : [];
}
