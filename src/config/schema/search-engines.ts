import { urlOf } from '../../kit/net/url-of.ts';

interface EngineNeeds {
  /** It has no address of its own. */
  readonly url?: true;
  /** It takes a credential, unless `url` replaces its address. */
  readonly apiKey?: true;
  /** Its modes, the usual one first. */
  readonly modes?: Readonly<Record<string, ModePrice>>;
}

/** Whether an engine bills a mode like its usual one, or more. */
type ModePrice = 'usual' | 'dearer';

/** Search engines that `plugins.web.engines` may name. */
export const SEARCH_ENGINES = {
  exa: {
    apiKey: true,
    modes: {
      auto: 'usual',
      instant: 'usual',
      fast: 'usual',
      'deep-lite': 'dearer',
      deep: 'dearer',
      'deep-reasoning': 'dearer',
    },
  },
  tavily: { apiKey: true, modes: { basic: 'usual', advanced: 'dearer', fast: 'usual' } },
  brave: { apiKey: true },
  firecrawl: { apiKey: true },
  parallel: { apiKey: true, modes: { advanced: 'usual', basic: 'usual', turbo: 'usual' } },
  perplexity: { apiKey: true },
  searxng: { url: true },
} as const satisfies Readonly<Record<string, EngineNeeds>>;

export type SearchEngineName = keyof typeof SEARCH_ENGINES;

interface EngineConfig {
  readonly api_key?: string | null;
  readonly url?: string | null;
  /** USD; by mode if it is an object. */
  readonly price_per_search?: number | Readonly<Record<string, number>> | null;
  readonly modes?: readonly string[] | null;
}

function modesOf(name: string): Readonly<Record<string, ModePrice>> {
  const needs: EngineNeeds = SEARCH_ENGINES[name as SearchEngineName];
  return needs.modes ?? {};
}

/**
 * The modes that callers may choose, the usual one first: those that the operator lists, else those that have a price
 * of their own, or that the engine bills like the usual one.
 */
export function callableModes(
  name: SearchEngineName,
  { modes, price_per_search: price }: EngineConfig,
): readonly string[] {
  const known = Object.entries(modesOf(name));
  if (modes) return known.flatMap(([mode]) => (modes.includes(mode) ? [mode] : []));
  const hasPrice = (mode: string) =>
    typeof price === 'object' && price !== null && Object.hasOwn(price, mode);
  return known.flatMap(([mode, cost]) => (cost === 'usual' || hasPrice(mode) ? [mode] : []));
}

/** Why the configuration of an engine cannot work; undefined if it can. `member`: where, inside it. */
export function engineProblem(
  name: string,
  engine: EngineConfig,
): { readonly member?: string; readonly message: string } | undefined {
  const { api_key, url } = engine;
  if (!Object.hasOwn(SEARCH_ENGINES, name)) {
    return { message: `is no known engine: ${Object.keys(SEARCH_ENGINES).join(', ')}` };
  }
  const needs: EngineNeeds = SEARCH_ENGINES[name as SearchEngineName];
  if (url && !/^https?:$/.test(urlOf(url)?.protocol ?? '')) {
    return { member: 'url', message: 'must be an address that begins with http:// or https://' };
  }
  if (needs.url && !url) {
    return { member: 'url', message: 'is required: the engine has no address of its own' };
  }
  if (needs.apiKey && !api_key && !url) {
    return { member: 'api_key', message: 'is required, unless url is given' };
  }
  return modeProblem(name, engine);
}

function modeProblem(name: string, { price_per_search: price, modes }: EngineConfig) {
  const known = modesOf(name);
  const prices = typeof price === 'object' && price !== null ? Object.keys(price) : undefined;
  const named = [
    ...(prices ?? []).map((mode) => ['price_per_search', mode] as const),
    ...(modes ?? []).map((mode) => ['modes', mode] as const),
  ];
  const wrong = named.find(([, mode]) => !Object.hasOwn(known, mode));
  if (wrong !== undefined) {
    const words = Object.keys(known);
    const message =
      words.length === 0
        ? 'has modes, but the engine has none'
        : `has a mode that is not one of ${words.join(', ')}`;
    return { member: wrong[0], message };
  }
  return prices?.length === 0 ? { member: 'price_per_search', message: 'has no price' } : undefined;
}
