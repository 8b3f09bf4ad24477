import type { JsonObject } from '../../kit/json/json.ts';
import { templateItemCount } from '../shared/presets/prompt-template.ts';

/** Where an item of `input` stands in the body that the caller wrote: what a prompt template put before it is not counted. */
export function inputPlace(body: JsonObject, index: number): string {
  const own = index - templateItemCount(body);
  return own < 0 ? 'prompt' : `input[${own}]`;
}
