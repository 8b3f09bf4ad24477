import type { GenerationRequest } from '../../ir/request.ts';

/** Images that a request brings along, in messages and in tool results: what the price per image is counted by. */
export function countInputImages({ items }: GenerationRequest): number {
  let images = 0;
  for (const item of items) {
    if (item.type !== 'message' && item.type !== 'tool-result') continue;
    for (const part of item.content) if (part.type === 'image') images += 1;
  }
  return images;
}
