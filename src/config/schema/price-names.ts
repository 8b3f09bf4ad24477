/** Price names, as in the public model lists. */
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
  'x_search',
  'file_search',
  'code_execution',
  'image_generation',
  'image_generation_input',
  'discount',
] as const;

export type PriceName = (typeof PRICE_NAMES)[number];

/** End of the name of a price that the file writes for a million: `prompt_per_million`. */
export const PER_MILLION = '_per_million';

/** Prices of a piece, and shares. */
const OTHER_PRICES: readonly PriceName[] = [
  'request',
  'image',
  'web_search',
  'x_search',
  'file_search',
  'code_execution',
  'discount',
];

export const TOKEN_PRICES: readonly PriceName[] = PRICE_NAMES.filter((name) => !OTHER_PRICES.includes(name));

const MAX_USD_PER_TOKEN = 1_000;
const MAX_USD_PER_PIECE = 100_000;

/**
 * Highest accepted price of one unit. A higher one is a typing error, and its charges could overflow a table's
 * column.
 */
export const MAX_PRICE_USD: Readonly<Record<PriceName, number>> = {
  prompt: MAX_USD_PER_TOKEN,
  completion: MAX_USD_PER_TOKEN,
  request: MAX_USD_PER_PIECE,
  image: MAX_USD_PER_PIECE,
  image_token: MAX_USD_PER_TOKEN,
  image_output: MAX_USD_PER_TOKEN,
  audio: MAX_USD_PER_TOKEN,
  audio_output: MAX_USD_PER_TOKEN,
  input_audio_cache: MAX_USD_PER_TOKEN,
  input_cache_read: MAX_USD_PER_TOKEN,
  input_cache_write: MAX_USD_PER_TOKEN,
  input_cache_write_1h: MAX_USD_PER_TOKEN,
  internal_reasoning: MAX_USD_PER_TOKEN,
  web_search: MAX_USD_PER_PIECE,
  x_search: MAX_USD_PER_PIECE,
  file_search: MAX_USD_PER_PIECE,
  code_execution: MAX_USD_PER_PIECE,
  image_generation: MAX_USD_PER_TOKEN,
  image_generation_input: MAX_USD_PER_TOKEN,
  discount: MAX_USD_PER_TOKEN,
};
