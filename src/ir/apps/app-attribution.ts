import { boundedText } from '../../kit/json/bounded-json.ts';
import { compact } from '../../kit/json/members.ts';
import { type AppCategory, isAppCategory } from './app-categories.ts';

/** The claims of a request about the app that makes it. */
export interface AppAttribution {
  /** Address of the app: its identity. */
  readonly referer?: string;
  readonly title?: string;
  readonly categories?: readonly AppCategory[];
}

/** The claims of headers about an app, unchecked. */
export interface WrittenAttribution {
  readonly referer?: string | undefined;
  readonly title?: string | undefined;
  readonly categories?: readonly string[] | undefined;
}

const MAX_CHARACTERS = { referer: 512, title: 128 } as const;

/** Categories that one request may name. */
const MAX_CATEGORIES = 2;

/** Control characters, surrogates, line separators, bidirectional controls and the replacement character. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\ufffd]/u;

/** The stored claims: long values are cut, unprintable ones and unknown categories left out. */
export function appAttributionOf({ referer, title, categories }: WrittenAttribution): AppAttribution {
  const known = knownCategoriesOf(categories ?? []);
  return compact({
    referer: printableText(referer, MAX_CHARACTERS.referer),
    title: printableText(title, MAX_CHARACTERS.title),
    categories: known.length === 0 ? undefined : known,
  });
}

/** The known ones among the categories that a request names, at most two. */
export function knownCategoriesOf(named: readonly string[]): readonly AppCategory[] {
  const known = named.map((name) => name.trim().toLowerCase()).filter(isAppCategory);
  return [...new Set(known)].slice(0, MAX_CATEGORIES);
}

/** Text that can be shown, cut to so many characters; undefined where nothing is left. */
export function printableText(value: string | undefined, characters: number): string | undefined {
  const text = (value ?? '').trim();
  return text === '' || UNPRINTABLE.test(text) ? undefined : boundedText(text, characters);
}
