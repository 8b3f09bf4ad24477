import type { JsonObject } from '../../kit/json/json.ts';
import type { Mark, Piece, Turn } from './piece.ts';
import type { RenderContext } from './render-context.ts';
import { MAX_CACHE_POINTS, type WireRole } from './wire.ts';

/** A prompt in the order in which the upstream reads it. */
export interface Prompt {
  readonly tools: readonly Piece[];
  readonly system: readonly Piece[];
  readonly turns: readonly Turn[];
}

/** The same in the upstream's words. */
export interface WirePrompt {
  readonly tools: JsonObject[];
  readonly system: JsonObject[];
  readonly messages: { readonly role: WireRole; readonly content: JsonObject[] }[];
}

/** Puts a cache point after each marked piece, as far as the model takes them. */
export function withCachePoints(prompt: Prompt, context: RenderContext): WirePrompt {
  const points = cachePoints(prompt, context);
  function write(pieces: readonly Piece[]): JsonObject[] {
    const blocks: JsonObject[] = [];
    for (const piece of pieces) {
      blocks.push(piece.block);
      const point = points.get(piece);
      if (point !== undefined) blocks.push(point);
    }
    return blocks;
  }
  const tools = write(prompt.tools);
  const system = write(prompt.system);
  const messages: WirePrompt['messages'] = [];
  for (const { role, pieces } of prompt.turns) messages.push({ role, content: write(pieces) });
  return { tools, system, messages };
}

/** The points that are set, by the piece that they follow. */
function cachePoints(prompt: Prompt, context: RenderContext): ReadonlyMap<Piece, JsonObject> {
  const { family, report } = context;
  const said = [...prompt.system, ...prompt.turns.flatMap(({ pieces }) => pieces)];
  const takesTools = family.cachePoints === 'everywhere';
  const refused =
    family.cachePoints === undefined ? [...prompt.tools, ...said] : takesTools ? [] : prompt.tools;
  for (const { mark } of refused)
    if (mark !== undefined) report.dropped(mark.field, 'the model takes none here');
  const places = family.cachePoints === undefined ? [] : takesTools ? [...prompt.tools, ...said] : said;
  const marks = marksOf(places, context);
  for (const [, mark] of marks.slice(0, Math.max(0, marks.length - MAX_CACHE_POINTS))) {
    report.dropped(mark.field, `the upstream takes ${MAX_CACHE_POINTS} of them: the last ones are kept`);
  }
  return new Map(marks.slice(-MAX_CACHE_POINTS).map(([piece, mark]) => [piece, cachePoint(mark, context)]));
}

/** The callers' marks in the order of the prompt, and the automatic one on the last piece that can carry it. */
function marksOf(places: readonly Piece[], { request, report }: RenderContext): [Piece, Mark][] {
  const last = request.cache === undefined ? undefined : places.findLast(isMarkable);
  const field = report.name('cache');
  if (request.cache !== undefined && last === undefined) report.dropped(field, 'the model takes none here');
  const marks: [Piece, Mark][] = [];
  for (const piece of places) {
    const automatic =
      piece === last && request.cache !== undefined ? { cache: request.cache, field } : undefined;
    const mark = piece.mark ?? automatic;
    if (mark !== undefined) marks.push([piece, mark]);
  }
  return marks;
}

/** Nothing can be cached right after thoughts. */
function isMarkable({ block }: Piece): boolean {
  return block.reasoningContent === undefined;
}

function cachePoint({ cache, field }: Mark, { family, report }: RenderContext): JsonObject {
  // Five minutes are what a point holds by itself.
  if (cache.ttl !== '1h') return { cachePoint: { type: 'default' } };
  if (family.hasCacheTtl === true) return { cachePoint: { type: 'default', ttl: cache.ttl } };
  report.coerced(`${field}.ttl`, 'the model caches for five minutes only');
  return { cachePoint: { type: 'default' } };
}
