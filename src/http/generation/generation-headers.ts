import Type, { type TObject } from 'typebox';
import { BETA_HEADER, VERSION_HEADER } from '../../dialects/shared/requests/betas.ts';
import type { CacheWish } from '../../ir/cache-wish.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { remembered } from '../../kit/collections/remembered.ts';
import { vendorHeader } from '../access/vendor-header.ts';
import { attributionHeaderSchemas } from './attribution.ts';

/** Groups requests; the sticky routing key when the body names none. */
export const SESSION_HEADER = 'x-session-id';

export const MAX_SESSION_ID = 256;

/** Where callers name betas of the messages format. Both count. */
const betaHeaders = [BETA_HEADER, `x-${BETA_HEADER}`] as const;

/** The headers that switch routing metadata on: the current one, then the legacy one. */
export function metadataHeaders(vendor: string): readonly [current: string, legacy: string] {
  return [vendorHeader(vendor, 'Metadata'), vendorHeader(vendor, 'Experimental-Metadata')];
}

/** Names of the metadata headers as requests have them. There is one vendor word at a time. */
const metadataSwitches = remembered(16, (vendor) =>
  metadataHeaders(vendor).map((name) => name.toLowerCase()),
);

/** The legacy header counts only in the absence of the current one; anything but `enabled` means no. */
export function wantsMetadata(headers: Readonly<Record<string, string>>, vendor: string): boolean {
  for (const name of metadataSwitches(vendor)) {
    const given = headers[name];
    if (given !== undefined) return given.trim().toLowerCase() === 'enabled';
  }
  return false;
}

/** Names of the headers that speak to the response cache, without and with the operator's word. */
const CACHE_HEADERS = { isOn: 'Cache', ttl: 'Cache-TTL', clears: 'Cache-Clear' } as const;

const cacheHeaders = remembered(16, (vendor) => ({
  isOn: vendorHeader(vendor, CACHE_HEADERS.isOn).toLowerCase(),
  ttl: vendorHeader(vendor, CACHE_HEADERS.ttl).toLowerCase(),
  clears: vendorHeader(vendor, CACHE_HEADERS.clears).toLowerCase(),
}));

const DEFAULT_TTL_SECONDS = 300;
const MAX_TTL_SECONDS = 86_400;

/** A caller's wishes for the response cache; undefined unless its headers switch it on. */
export function cacheWish(headers: Readonly<Record<string, string>>, vendor: string): CacheWish | undefined {
  const names = cacheHeaders(vendor);
  if (!isTrue(headers[names.isOn])) return undefined;
  const wanted = Number(headers[names.ttl] ?? DEFAULT_TTL_SECONDS);
  const ttlSeconds = Math.min(MAX_TTL_SECONDS, Math.max(1, Math.floor(wanted)));
  return { ttlSeconds, clears: isTrue(headers[names.clears]) };
}

function isTrue(value: string | undefined): boolean {
  return value?.trim().toLowerCase() === 'true';
}

const BETA_NAME = /^[a-z0-9-]{1,64}$/;
const MAX_BETAS = 32;
/** Characters of a wrong name that a refusal repeats. */
const SHOWN_CHARACTERS = 64;

/**
 * The betas that a caller names; undefined if it names none. They go upstream without a scan: anything but names is a
 * 400.
 */
export function betasOf(headers: Readonly<Record<string, string>>): string | undefined {
  const betas = new Set<string>();
  for (const header of betaHeaders) {
    for (const entry of headers[header]?.split(',') ?? []) {
      const name = entry.trim();
      if (name === '') continue;
      if (!BETA_NAME.test(name)) {
        const shown = JSON.stringify(name.slice(0, SHOWN_CHARACTERS));
        const message = `${shown} is no name of a beta: at most 64 of a-z, 0-9 and hyphens`;
        throw invalidRequest([{ path: header, message }]);
      }
      betas.add(name);
    }
    if (betas.size > MAX_BETAS) {
      throw invalidRequest([{ path: header, message: `must name at most ${MAX_BETAS} betas` }]);
    }
  }
  return betas.size === 0 ? undefined : [...betas].join(',');
}

/** The version of the messages format that a caller names; undefined for none, and for one that is no date. */
export function apiVersionOf(headers: Readonly<Record<string, string>>): string | undefined {
  const version = headers[VERSION_HEADER];
  return version !== undefined && VERSION.test(version) ? version : undefined;
}

const VERSION = /^\d{4}-\d{2}-\d{2}$/;

/** The header by which a gateway says that a request comes from its fusion. */
const fusionDepthHeader = remembered(16, (vendor) => vendorHeader(vendor, 'Fusion-Depth').toLowerCase());

export function isInsideFusion(headers: Readonly<Record<string, string>>, vendor: string): boolean {
  const depth = headers[fusionDepthHeader(vendor)];
  return depth !== undefined && Number(depth) !== 0;
}

const switchDescription = '`enabled` adds routing metadata to the reply; anything else means `disabled`.';

export function generationHeaderSchema(vendor: string): TObject {
  return Type.Object({
    ...metadataHeaderSchemas(vendor),
    ...cacheHeaderSchemas(vendor),
    ...planningHeaderSchemas(vendor),
    ...attributionHeaderSchemas(vendor),
  });
}

/** Declared headers of routes that read a request and generate nothing: only those that have an effect there. */
export function planningHeaderSchema(vendor: string): TObject {
  return Type.Object({ ...metadataHeaderSchemas(vendor), ...planningHeaderSchemas(vendor) });
}

function metadataHeaderSchemas(vendor: string) {
  const [current, legacy] = metadataHeaders(vendor);
  return {
    [current.toLowerCase()]: Type.Optional(Type.String({ description: switchDescription })),
    [legacy.toLowerCase()]: Type.Optional(
      Type.String({ description: `Legacy name of ${current}.`, deprecated: true }),
    ),
  };
}

/** Headers that say where a request may go. */
function planningHeaderSchemas(vendor: string) {
  return {
    [fusionDepthHeader(vendor)]: Type.Optional(
      Type.String({
        pattern: '^\\s*\\d{1,3}\\s*$',
        explain: 'must be a whole number',
        description: 'Set by gateways on requests of their fusion. Above 0 a request for fusion gets a 400.',
      }),
    ),
    // Its length is looked at only when it counts: a session id in the body wins.
    [SESSION_HEADER]: Type.Optional(
      printable(
        16_384,
        `At most ${MAX_SESSION_ID} characters. Groups requests; \`session_id\` in the body wins.`,
      ),
    ),
    // Anything but a date counts as none: a header of a client never fails a request.
    [VERSION_HEADER]: Type.Optional(
      Type.String({
        description:
          'Version of the messages format, such as `2026-10-21`, for endpoints that take it; 2023-06-01 without it.',
      }),
    ),
    ...Object.fromEntries(
      betaHeaders.map((name) => [
        name,
        Type.Optional(
          printable(
            2048,
            'Names of betas of the messages format, with commas between, for upstreams of that family.',
          ),
        ),
      ]),
    ),
  };
}

function cacheHeaderSchemas(vendor: string) {
  const { isOn, ttl, clears } = cacheHeaders(vendor);
  return {
    [isOn]: Type.Optional(
      Type.String({
        description:
          '`true`: the same body from the same key is answered from the response cache, and its answer is kept there.',
      }),
    ),
    [ttl]: Type.Optional(
      Type.String({
        pattern: '^\\s*\\d{1,9}\\s*$',
        explain: 'must be a whole number of seconds',
        description:
          `Seconds that the answer is kept: 1 to ${MAX_TTL_SECONDS}, ${DEFAULT_TTL_SECONDS} without it. ` +
          'What is outside is taken for the nearest.',
      }),
    ),
    [clears]: Type.Optional(Type.String({ description: '`true`: what is kept is forgotten first.' })),
  };
}

/** A value that may go on into another header or a log: nothing but printable ASCII. */
function printable(maxLength: number, description: string) {
  return Type.String({
    maxLength,
    pattern: '^[\\x20-\\x7e]*$',
    explain: `must be at most ${maxLength} printable ASCII characters`,
    description,
  });
}
