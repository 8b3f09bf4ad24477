import Type, { type TSchema } from 'typebox';
import type { Attribution } from '../../gateway/request/generation-input.ts';
import { type AppAttribution, appAttributionOf, printableText } from '../../ir/apps/app-attribution.ts';
import { remembered } from '../../kit/collections/remembered.ts';
import { readTraceParent, readTraceState, writeTraceParent } from '../../kit/net/trace-context.ts';
import { vendorHeader } from '../access/vendor-header.ts';

const MAX_CHARACTERS = { userAgent: 256, requestId: 128 } as const;

const DESCRIPTIONS = {
  referer: 'Address of the app that calls: its identity in statistics.',
  title: 'Name of the app that calls.',
  categories:
    'Up to two categories of the app, with a comma between them; those that are not known are left out.',
  userAgent: 'Kept with the generation.',
  requestId: 'Your own id of the request, kept with the generation.',
  traceparent:
    'W3C trace context: the trace and the span that the request belongs to. Ids in `trace` of the body win.',
  tracestate: 'W3C trace context: what vendors keep of the trace. Counts only with `traceparent`.',
};

/** Headers that identify the calling app, by name in lower case. No value of them is refused. */
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
    traceparent: header(DESCRIPTIONS.traceparent),
    tracestate: header(DESCRIPTIONS.tracestate),
  };
}

/** Reads the attribution headers: long values are cut, unprintable ones and unknown categories left out. */
export function attributionOf(headers: Readonly<Record<string, string>>, vendor: string): Attribution {
  const names = namesFor(vendor);
  const userAgent = printableText(textOf(headers[names.userAgent]), MAX_CHARACTERS.userAgent);
  const requestId = printableText(textOf(headers[names.requestId]), MAX_CHARACTERS.requestId);
  const attribution: Mutable<Attribution> = { ...appOf(headers, names) };
  if (userAgent !== undefined) attribution.userAgent = userAgent;
  if (requestId !== undefined) attribution.requestId = requestId;
  if (headers.traceparent !== undefined) addTrace(attribution, headers.traceparent, headers.tracestate);
  return attribution;
}

/** An object while it is made. */
type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Headers that are not valid count as absent. */
function addTrace(attribution: Mutable<Attribution>, header: string, stateHeader: string | undefined): void {
  const parent = readTraceParent(header.trim());
  if (parent === undefined) return;
  attribution.traceparent = writeTraceParent(parent);
  const state = stateHeader === undefined ? undefined : readTraceState(stateHeader);
  if (state !== undefined) attribution.tracestate = state;
}

/** Most callers name no app. */
function appOf(
  headers: Readonly<Record<string, string>>,
  names: ReturnType<typeof namesFor>,
): AppAttribution | undefined {
  const referer = headers[names.referer];
  const title = headers[names.title]?.trim() || headers[names.titleAlias];
  const categories = headers[names.categories];
  if (referer === undefined && title === undefined && categories === undefined) return undefined;
  return appAttributionOf({
    referer: textOf(referer),
    title: textOf(title),
    categories: textOf(categories).split(','),
  });
}

/** There is one vendor word at a time. */
const namesFor = remembered(16, (vendor) => ({
  referer: 'http-referer',
  title: vendorHeader(vendor, 'Title').toLowerCase(),
  titleAlias: 'x-title',
  categories: vendorHeader(vendor, 'Categories').toLowerCase(),
  userAgent: 'user-agent',
  requestId: 'x-request-id',
}));

/** Headers are bytes, which Node gives as one character each; people write UTF-8 into them. */
function textOf(value = ''): string {
  return BEYOND_ASCII.test(value) ? Buffer.from(value, 'latin1').toString() : value;
}

const BEYOND_ASCII = /[\u0080-\uffff]/;
