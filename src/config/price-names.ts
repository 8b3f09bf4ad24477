/** Price names as in the public model lists: what the file takes and the catalogue knows. */
export const PRICE_NAMES = [
  'prompt',
  'completion',
  'request',
  'image',
  'image_token',
  'image_output',
  'audio',
  'audio_output',
  'input_audio_cache',
  'input_cache_read',
  'input_cache_write',
  'input_cache_write_1h',
  'internal_reasoning',
  'web_search',
  'discount',
] as const;

export type PriceName = (typeof PRICE_NAMES)[number];
