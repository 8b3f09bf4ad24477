import type { Endpoint } from '../../catalog/catalog.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import type { PixelSize } from '../../tokens/pixel-size.ts';

/** Upper bound of the tokens of an image: the largest images at the providers that count most. */
const IMAGE_TOKENS = 5_000;

/**
 * Tokens of an image at one family of models; undefined = as many as the context holds. `size`: undefined = unknown.
 */
type ImageRule = (size: PixelSize | undefined) => number | undefined;

const upTo =
  (tokens: number): ImageRule =>
  () =>
    tokens;

/**
 * OpenAI, Images and vision: patches of 32 pixels, 1.2 tokens each. GPT-5.4 and 5.5 scale an image down to 10,000
 * patches, later ones refuse one of more than 30,000.
 */
const byPatches =
  (mostPatches: number): ImageRule =>
  (size) => {
    const patches = size === undefined ? mostPatches : Math.min(mostPatches, partsOf(size, 32));
    return Math.ceil(patches * 1.2);
  };

/**
 * Google, Understand and count tokens: 258 tokens for each tile of 768 pixels, and no limit to their number. Tiles of
 * small images are assumed to be smaller, two thirds of the shorter side, which only raises the number. Gemini 3 and
 * later count a fixed number for each resolution, 1,120 for high; the one above it is assumed to stay below
 * `IMAGE_TOKENS`.
 */
const byTiles: ImageRule = (size) => {
  if (size === undefined) return undefined;
  const side = Math.floor(Math.min(size.width, size.height) / 1.5);
  return 258 * partsOf(size, Math.min(768, Math.max(256, side)));
};

function partsOf({ width, height }: PixelSize, side: number): number {
  return Math.ceil(width / side) * Math.ceil(height / side);
}

/**
 * Models that may count more than `IMAGE_TOKENS`, by name, because a deployment may have any name at its provider. The
 * first match counts.
 */
const RULES: readonly (readonly [model: RegExp, rule: ImageRule])[] = [
  // OpenAI: 2,833 tokens and 5,667 for each of up to eight tiles. It is a small model, whose tokens cost less.
  [/gpt-4o-mini/, upTo(50_000)],
  [/gpt-[\d.]+-(?:mini|nano)/, upTo(IMAGE_TOKENS)],
  [/gpt-5\.[45]/, byPatches(10_000)],
  [/gpt-(?:5\.[6-9]|[6-9])/, byPatches(30_000)],
  // Alibaba: up to 16,384 with `vl_high_resolution_images`. Small images are scaled up to `min_pixels`.
  [/qwen|qvq/, upTo(16_384)],
  [/gemini-(?![3-9])/, byTiles],
];

/** Models of Google that do not count by tiles. */
const FIXED_GEMINI = /gemini-[3-9]/;

/** Upper bound of the tokens of an image at an endpoint; undefined = as many as the context holds. */
export function imageTokensAt(endpoint: Endpoint, size: PixelSize | undefined): number | undefined {
  const rule = ruleOf(endpoint);
  const tokens = rule === undefined ? IMAGE_TOKENS : rule(size);
  return tokens === undefined ? undefined : Math.max(IMAGE_TOKENS, tokens);
}

function ruleOf({ modelId, upstreamModel, provider }: Endpoint): ImageRule | undefined {
  const names = `${modelId} ${upstreamModel}`;
  const known = RULES.find(([model]) => model.test(names))?.[1];
  return known ?? (countsImageTiles(provider) && !FIXED_GEMINI.test(names) ? byTiles : undefined);
}

/** The simulator speaks every dialect and has no rule of its own. */
function countsImageTiles({ dialect }: Endpoint['provider']): boolean {
  return dialect !== 'simulator' && DIALECTS[dialect].facts.countsImageTiles === true;
}
