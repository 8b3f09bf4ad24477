import { type GenerationQuery, generationObject } from '../../contract/generation.ts';
import { writeJson } from '../../kit/json/stringify-sliced.ts';
import { callerOf } from '../routes/caller-of.ts';
import type { Call, Handler } from '../routes/route.ts';

/** `GET /generation`. */
export const showGeneration: Handler = async (call) => {
  const generation = await call.services.generations.get(callerOf(call).accountId, idOf(call));
  call.exchange.reply.json(200, { data: generationObject(generation) });
};

/** `GET /generation/content`. */
export const showGenerationContent: Handler = async (call) => {
  const content = await call.services.generations.contentOf(callerOf(call).accountId, idOf(call));
  call.exchange.reply.jsonText(200, await writeJson({ data: content }));
};

function idOf({ query }: Call): string {
  return (query as GenerationQuery).id;
}
