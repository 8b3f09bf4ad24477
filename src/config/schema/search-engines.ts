/** Members that an engine needs in the configuration. */
interface EngineNeeds {
  /** It has no address of its own. */
  readonly url?: true;
  /** It takes a credential, unless `url` replaces its address. */
  readonly apiKey?: true;
}

/** Search engines that `plugins.web.engines` may name. */
export const SEARCH_ENGINES = {
  exa: { apiKey: true },
  tavily: { apiKey: true },
  brave: { apiKey: true },
  firecrawl: { apiKey: true },
  parallel: { apiKey: true },
  perplexity: { apiKey: true },
  searxng: { url: true },
} as const satisfies Readonly<Record<string, EngineNeeds>>;

export type SearchEngineName = keyof typeof SEARCH_ENGINES;

/** Why the configuration of an engine cannot work; undefined if it can. `member`: where, inside it. */
export function engineProblem(
  name: string,
  { api_key, url }: { readonly api_key?: string | null; readonly url?: string | null },
): { readonly member?: 'api_key' | 'url'; readonly message: string } | undefined {
  if (!Object.hasOwn(SEARCH_ENGINES, name)) {
    return { message: `is no known engine: ${Object.keys(SEARCH_ENGINES).join(', ')}` };
  }
  const needs: EngineNeeds = SEARCH_ENGINES[name as SearchEngineName];
  if (url) {
    const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    return isWeb
      ? undefined
      : { member: 'url', message: 'must be an address that begins with http:// or https://' };
  }
  if (needs.url) return { member: 'url', message: 'is required: the engine has no address of its own' };
  if (needs.apiKey && !api_key) return { member: 'api_key', message: 'is required, unless url is given' };
  return undefined;
}
