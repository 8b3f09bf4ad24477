/**
 * Highest accepted price of one unit, by what has the price. A higher one is a typing error, and its charges could
 * overflow a table's column.
 */
const MAX_USD = { token: 1_000, piece: 100_000, share: 1_000 };

/** Prices, named as in the public model lists: what has the price, and its meaning. */
const PRICES = {
  prompt: ['token', 'Price of a prompt token that is neither read from a cache nor written to one.'],
  completion: ['token', 'Price of a completion token that has no price of its own.'],
  request: ['piece', 'Price of a request.'],
  image: ['piece', 'Price of an image in the prompt.'],
  image_token: ['token', 'Price of a token of an image in the prompt; absent: the price of prompt.'],
  image_output: ['token', 'Price of a token of an image in the answer, in place of completion.'],
  audio: ['token', 'Price of a token of audio in the prompt; absent: the price of prompt.'],
  audio_output: ['token', 'Price of a token of audio in the answer; absent: the price of completion.'],
  input_audio_cache: [
    'token',
    'Price of a token of audio that is read from a cache; absent: the price of input_cache_read.',
  ],
  input_cache_read: [
    'token',
    'Price of a prompt token that is read from a cache; absent: the price of prompt.',
  ],
  input_cache_write: [
    'token',
    'Price of a prompt token that is written to a cache; absent: the price of prompt.',
  ],
  input_cache_write_1h: [
    'token',
    'Price of a prompt token that is written to a cache for an hour or twelve; absent: input_cache_write.',
  ],
  internal_reasoning: ['token', 'Price of a reasoning token, in place of completion.'],
  web_search: [
    'piece',
    'Price of a web search by the upstream, or by an engine of the gateway that has none of its own.',
  ],
  x_search: ['piece', 'Price of a search of X by the upstream.'],
  file_search: ['piece', "Price of a search of the provider's files by the upstream."],
  code_execution: [
    'piece',
    'Price of a container in which the upstream runs code, for each gigabyte; of a run, where runs are billed.',
  ],
  image_generation: ['token', 'Price of an output token of a picture that a tool of the upstream makes.'],
  image_generation_input: ['token', 'Price of an input token of such a picture.'],
  discount: ['share', 'Refused: take it off the prices instead.'],
} as const satisfies Readonly<Record<string, readonly [keyof typeof MAX_USD, string]>>;

export type PriceName = keyof typeof PRICES;

export const PRICE_NAMES = Object.keys(PRICES) as readonly PriceName[];

export const TOKEN_PRICES = PRICE_NAMES.filter((name) => PRICES[name][0] === 'token');

/** End of the name of a price that the file writes for a million: `prompt_per_million`. */
export const PER_MILLION = '_per_million';

export function maxPriceUsd(name: PriceName): number {
  return MAX_USD[PRICES[name][0]];
}

export function priceMeaning(name: PriceName): string {
  return PRICES[name][1];
}
