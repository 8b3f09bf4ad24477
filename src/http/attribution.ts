import Type, { type TSchema } from 'typebox';
import type { Attribution } from '../gateway/generation.ts';
import { boundedText } from '../kit/bounded-json.ts';
import { compact } from '../kit/members.ts';
import { vendorHeader } from './vendor-header.ts';

/** Characters that are kept of each value. */
const MOST_CHARACTERS = { referer: 512, title: 128, userAgent: 256, requestId: 128 } as const;

/** Categories that one request may name. */
const MOST_CATEGORIES = 2;
const CATEGORY = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const LONGEST_CATEGORY = 30;

/** Control characters, and those that turn the direction of what stands around them. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\ufffd]/u;

const DESCRIPTIONS = {
  referer: 'Address of the app that calls: its identity in statistics.',
  title: 'Name of the app that calls.',
  categories: 'Up to two categories of the app, with a comma between them.',
  userAgent: 'Kept with the generation.',
  requestId: 'Your own id of the request, kept with the generation.',
};

/** Headers in which callers say who they are, by name in lower case. None of them is ever refused. */
export function attributionHeaderSchemas(vendor: string): Record<string, TSchema> {
  const header = (description: string) => Type.Optional(Type.String({ description }));
  const names = namesFor(vendor);
  return {
    [names.referer]: header(DESCRIPTIONS.referer),
    [names.title]: header(DESCRIPTIONS.title),
    [names.titleAlias]: header(`Short name of ${vendorHeader(vendor, 'Title')}.`),
    [names.categories]: header(DESCRIPTIONS.categories),
    [names.userAgent]: header(DESCRIPTIONS.userAgent),
    [names.requestId]: header(DESCRIPTIONS.requestId),
  };
}

/** Reads who says to be calling: too long values are cut, unprintable ones left out. */
export function attributionOf(headers: Readonly<Record<string, string>>, vendor: string): Attribution {
  const names = namesFor(vendor);
  const categories = categoriesOf(printable(headers[names.categories]));
  return compact({
    referer: printable(headers[names.referer], MOST_CHARACTERS.referer),
    title: printable(headers[names.title] ?? headers[names.titleAlias], MOST_CHARACTERS.title),
    categories: categories.length === 0 ? undefined : categories,
    userAgent: printable(headers[names.userAgent], MOST_CHARACTERS.userAgent),
    requestId: printable(headers[names.requestId], MOST_CHARACTERS.requestId),
  });
}

function namesFor(vendor: string) {
  return {
    referer: 'http-referer',
    title: vendorHeader(vendor, 'Title').toLowerCase(),
    titleAlias: 'x-title',
    categories: vendorHeader(vendor, 'Categories').toLowerCase(),
    userAgent: 'user-agent',
    requestId: 'x-request-id',
  };
}

/** Headers are bytes, which Node gives as one character each; people write UTF-8 into them. */
function printable(value: string | undefined, characters = Number.POSITIVE_INFINITY): string | undefined {
  const text = Buffer.from(value ?? '', 'latin1')
    .toString()
    .trim();
  return text === '' || UNPRINTABLE.test(text) ? undefined : boundedText(text, characters);
}

function categoriesOf(list: string | undefined): string[] {
  const named = (list ?? '').split(',').map((category) => category.trim().toLowerCase());
  const valid = named.filter((category) => category.length <= LONGEST_CATEGORY && CATEGORY.test(category));
  return [...new Set(valid)].slice(0, MOST_CATEGORIES);
}
