import { PER_MILLION, PRICE_NAMES, type PriceName, TOKEN_PRICES } from '../../config/schema/price-names.ts';
import { pricesPerMillion } from '../../config/shown-prices.ts';
import type { ListedEndpoint } from '../../manage/models/listed-models.ts';
import { tableText } from './output.ts';

const HEADINGS: Readonly<Record<PriceName, string>> = {
  prompt: 'INPUT',
  completion: 'OUTPUT',
  input_cache_read: 'CACHE READ',
  input_cache_write: 'WRITE',
  input_cache_write_1h: 'WRITE 1H',
  internal_reasoning: 'REASONING',
  image_output: 'IMAGE OUTPUT',
  image_token: 'IMAGE TOKEN',
  audio: 'AUDIO',
  audio_output: 'AUDIO OUTPUT',
  input_audio_cache: 'AUDIO CACHE',
  request: 'REQUEST',
  image: 'IMAGE',
  web_search: 'SEARCH',
  x_search: 'X',
  file_search: 'FILES',
  code_execution: 'CODE',
  image_generation: 'DRAW',
  image_generation_input: 'DRAW IN',
  discount: 'DISCOUNT',
};

/** In the order of the headings: the usual prices first. */
const ORDER: readonly PriceName[] = Object.keys(HEADINGS) as PriceName[];

/** Prices of what providers do with tools of their own: a table of their own. */
const OF_TOOLS: readonly PriceName[] = [
  'web_search',
  'x_search',
  'file_search',
  'code_execution',
  'image_generation',
  'image_generation_input',
];

const OF_MODELS: readonly PriceName[] = ORDER.filter((name) => !OF_TOOLS.includes(name));

/** Shown even if they are zero. */
const ALWAYS: readonly PriceName[] = ['prompt', 'completion'];

/** Prices of one endpoint in one situation, by name; those of tokens for a million. */
interface PriceRow {
  readonly tag: string;
  /** `now`, `from 2027-01-01`, `201k tokens or more`. */
  readonly when: string;
  readonly prices: ReadonlyMap<PriceName, string>;
}

/** The prices of all endpoints: of now, of long prompts, of earlier and later days. */
export function pricesText(endpoints: readonly ListedEndpoint[]): string {
  const rows = endpoints.flatMap(rowsOf).filter(({ prices }) => prices.size > 0);
  if (rows.length === 0) return '';
  const tooled = rows.filter(({ prices }) => OF_TOOLS.some((name) => isCharged(prices.get(name))));
  const tools =
    tooled.length === 0 ? '' : `\n\nTOOLS that the provider runs, in USD\n${tableOf(tooled, OF_TOOLS, [])}`;
  return `PRICES in USD: of tokens for a million, of anything else for one\n${tableOf(rows, OF_MODELS, ALWAYS)}${tools}`;
}

/** A table with the prices of some names: `always`, and those that any row charges. */
function tableOf(
  rows: readonly PriceRow[],
  names: readonly PriceName[],
  always: readonly PriceName[],
): string {
  const shown = names.filter(
    (name) => always.includes(name) || rows.some(({ prices }) => isCharged(prices.get(name))),
  );
  const headings = shown.map((name) => HEADINGS[name]);
  const isDated = rows.some(({ when }) => when !== '');
  return tableText(
    ['ENDPOINT', ...(isDated ? ['WHEN'] : []), ...headings],
    rows.map(({ tag, when, prices }) => [
      tag,
      ...(isDated ? [when] : []),
      ...shown.map((name) => prices.get(name) ?? ''),
    ]),
    headings,
  );
}

function isCharged(price: string | undefined): boolean {
  return price !== undefined && Number(price) !== 0;
}

function rowsOf({ tag, pricing, prices, current_pricing }: ListedEndpoint): PriceRow[] {
  const current = current_pricing as Written;
  const dated = [
    ...(prices?.length ? [{ when: 'before', written: pricesPerMillion(pricing ?? {}) as Written }] : []),
    ...(prices ?? []).map(({ from, pricing: later }) => ({
      when: `from ${from}`,
      written: pricesPerMillion(later) as Written,
    })),
  ];
  const others = dated.length > 1 ? dated : [];
  return [
    ...withLengths(tag, others.length > 0 ? 'now' : '', current),
    ...others.flatMap(({ when, written }) => withLengths(tag, when, written)),
  ];
}

/** Prices as the configuration writes them, those of tokens per million. */
interface Written {
  readonly overrides?: readonly (Written & { readonly min_prompt_tokens: number })[];
  readonly [name: string]: unknown;
}

/** A row for usual prompts, and one for each length from which other prices hold. */
function withLengths(tag: string, when: string, { overrides = [], ...written }: Written): PriceRow[] {
  return [
    { tag, when, prices: pricesOf(written) },
    ...overrides.map(({ min_prompt_tokens: tokens, ...long }) => ({
      tag,
      when: `${when} prompt >= ${tokens}`.trim(),
      prices: pricesOf(long),
    })),
  ];
}

function pricesOf(written: object): ReadonlyMap<PriceName, string> {
  const members = written as Readonly<Record<string, unknown>>;
  return new Map(
    PRICE_NAMES.flatMap((name) => {
      const price = members[TOKEN_PRICES.includes(name) ? `${name}${PER_MILLION}` : name] ?? members[name];
      return price === undefined || price === null ? [] : [[name, String(price)] as const];
    }),
  );
}
