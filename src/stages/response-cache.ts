import { createHash } from 'node:crypto';
import type { GenerationRequest } from '../ir/request.ts';
import type { Result } from '../ir/result.ts';
import { type ExactNumbers, stringifyExactly } from '../kit/json/exact-numbers.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { CachedAnswer, ResponseCache } from '../ports/content/response-cache.ts';
import type { GivenAnswer, ServedAnswer, Stage, StageContext } from './stage.ts';

/** Serves a cached answer to an identical request of the same key. */
export function responseCacheStage(cache: ResponseCache): Stage {
  return {
    name: 'response-cache',
    touches: 'nothing',
    needsWholeAnswer: true,
    // Zero data retention applies to the cache too.
    isActive: (request, { cache: wish, hasZeroRetention }) =>
      wish !== undefined && !hasZeroRetention(request, []),
    async before(request, context) {
      const key = keyOf(request, context);
      if (context.cache?.clears === true) await cache.forget(key);
      const found = await cache.find(key, context.now());
      writeCacheHeaders(found, context);
      return found && { served: served(found, request) };
    },
    after(given, context, request) {
      const { cache: wish } = context;
      if (wish === undefined || !context.mayKeep()) return;
      if (given.result.omitted !== undefined || isTooLong(given.result)) return;
      if (context.hasZeroRetention(request, [given.model])) return;
      cache.keep(keyOf(request, context), {
        sourceId: context.generationId,
        storedAtMs: context.now(),
        ttlSeconds: wish.ttlSeconds,
        answer: keptOf(given, request),
      });
    },
  };
}

/**
 * Digest of key, format, models and body. The models are included because a body without a model gets the default of
 * its workspace, which may change; streaming is a member of the body. The order of members counts; headers do not.
 */
function keyOf({ models, exactNumbers }: GenerationRequest, { caller, format, body }: StageContext): string {
  return createHash('sha256')
    .update(
      `${caller.key.hash}\n${format}\n${JSON.stringify(models)}\n${stringifyExactly(body, exactNumbers)}` +
        rulesOf(caller),
    )
    .digest('hex');
}

/** Reports the outcome in headers of the reply. */
function writeCacheHeaders(found: CachedAnswer | undefined, { cache, header, now }: StageContext): void {
  header('Cache-Status', found === undefined ? 'MISS' : 'HIT');
  header('Cache-TTL', String(found?.ttlSeconds ?? cache?.ttlSeconds ?? 0));
  if (found === undefined) return;
  header('Cache-Age', String(Math.max(0, Math.floor((now() - found.storedAtMs) / 1000))));
  header('Cache-Source-Id', found.sourceId);
}

/** Numbers, or characters of base64, in all vectors of a cached answer: it is serialized in one step. */
const MAX_KEPT_NUMBERS = 200_000;

function isTooLong({ vectors = [] }: Result): boolean {
  return vectors.reduce((sum, { length }) => sum + length, 0) > MAX_KEPT_NUMBERS;
}

/** A cached answer: all that the next reply needs. */
interface Kept {
  readonly items: Result['items'];
  readonly finish: Result['finish'] | null;
  readonly upstreamModel: string | null;
  readonly relayed: JsonObject | null;
  /** Long numbers of the answer. */
  readonly exactNumbers: ReturnType<ExactNumbers['entries']> | null;
  readonly vectors: Result['vectors'] | null;
  readonly model: string;
  readonly provider: string;
  readonly serviceTier: string;
}

function keptOf(
  { result, model, provider, serviceTier }: GivenAnswer,
  { exactNumbers }: GenerationRequest,
): JsonObject {
  const { items, finish, upstreamModel, relayed, vectors } = result;
  const { settled: _, ...ended } = finish ?? {};
  const served = { model, provider, serviceTier };
  const numbers = exactNumbers?.isEmpty === false && { exactNumbers: exactNumbers.entries() };
  const kept = { items, finish: finish && ended, upstreamModel, relayed, vectors, ...served, ...numbers };
  return kept as unknown as JsonObject;
}

function served({ sourceId, answer }: CachedAnswer, request: GenerationRequest): ServedAnswer {
  const { items, finish, upstreamModel, relayed, vectors, exactNumbers, ...rest } = answer as unknown as Kept;
  if (exactNumbers) request.exactNumbers?.adopt(exactNumbers);
  const result: Result = {
    items,
    ...(finish && { finish }),
    ...(upstreamModel && { upstreamModel }),
    ...(relayed && { relayed }),
    ...(vectors && { vectors }),
  };
  return { result, ...rest, sourceId };
}

/** Names the rules of a caller as they are now: an answer that passed others is not given again. */
function rulesOf({ guardrails, key: { allowedModels } }: StageContext['caller']): string {
  const models = allowedModels === null ? '' : `\n${JSON.stringify(allowedModels)}`;
  return guardrails.map(({ guardrail: { id, updatedAtMs } }) => `\n${id} ${updatedAtMs}`).join('') + models;
}
