import type { GenerationRequest } from '../../ir/request.ts';

/** Images in the messages and tool results of a request, for the price per image. */
export function countInputImages({ items }: GenerationRequest): number {
  let images = 0;
  for (const item of items) {
    if (item.type !== 'message' && item.type !== 'tool-result') continue;
    for (const part of item.content) if (part.type === 'image') images += 1;
  }
  return images;
}
