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

/** More than anybody asks for one token, and for one of anything larger. */
const MOST_USD_A_TOKEN = 1_000;
const MOST_USD_A_PIECE = 100_000;

/** The highest price that is taken for one unit: what is above is a slip, and would make charges that no table holds. */
export const MOST_USD_OF_PRICE: Readonly<Record<PriceName, number>> = {
  prompt: MOST_USD_A_TOKEN,
  completion: MOST_USD_A_TOKEN,
  request: MOST_USD_A_PIECE,
  image: MOST_USD_A_PIECE,
  image_token: MOST_USD_A_TOKEN,
  image_output: MOST_USD_A_TOKEN,
  audio: MOST_USD_A_TOKEN,
  audio_output: MOST_USD_A_TOKEN,
  input_audio_cache: MOST_USD_A_TOKEN,
  input_cache_read: MOST_USD_A_TOKEN,
  input_cache_write: MOST_USD_A_TOKEN,
  input_cache_write_1h: MOST_USD_A_TOKEN,
  internal_reasoning: MOST_USD_A_TOKEN,
  web_search: MOST_USD_A_PIECE,
  discount: MOST_USD_A_TOKEN,
};
