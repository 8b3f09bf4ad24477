import type { SearchEngineName } from '../config/schema/search-engines.ts';
import { quoted } from '../kit/text/quoted.ts';
import type { WebSettings } from './web-settings.ts';

/** Who searches: an engine of the configuration, or the upstream itself. */
export type ChosenEngine = SearchEngineName | 'native';

const AUTO = 'auto';
const NATIVE = 'native';

/** Why no request can have this engine; undefined if some can. */
export function engineIssue(asked: string | undefined, { engines }: WebSettings): string | undefined {
  if (asked === undefined || asked === AUTO || asked === NATIVE) return undefined;
  if (engines.has(asked as SearchEngineName)) return undefined;
  const names = [...engines.keys(), AUTO, NATIVE].join(', ');
  return `the search engine ${quoted(asked)} is not configured on this gateway (there are: ${names})`;
}

/**
 * The engine for a request whose endpoints search by themselves (`hasNative`) or do not. A problem instead: none can
 * search. An engine that a request names must be configured (`engineIssue`).
 */
export function chooseEngine(
  asked: string | undefined,
  settings: WebSettings,
  hasNative: boolean,
): { readonly engine: ChosenEngine } | { readonly problem: string } {
  if (asked === NATIVE && !hasNative) {
    return { problem: 'no endpoint of the model searches by itself ("native")' };
  }
  const engine = chosen(asked, settings, hasNative ? NATIVE : undefined);
  return engine === undefined
    ? { problem: 'no search engine is configured on this gateway, and no endpoint of the model has its own' }
    : { engine };
}

function chosen(
  asked: string | undefined,
  { engines, defaultEngine }: WebSettings,
  native: typeof NATIVE | undefined,
): ChosenEngine | undefined {
  const [first] = engines.keys();
  const named = asked === undefined || asked === AUTO ? defaultEngine : asked;
  if (named === NATIVE) return native ?? first;
  if (named !== undefined && named !== AUTO) return named as SearchEngineName;
  // Left to the gateway by `auto`: an engine of the operator. Left open: the upstream's own search, as the plugin says.
  return asked === AUTO || named === AUTO ? (first ?? native) : (native ?? first);
}
