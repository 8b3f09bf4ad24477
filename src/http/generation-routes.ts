import { type GenerationQuery, generationObject } from '../contract/generation.ts';
import { stringifySliced } from '../kit/stringify-sliced.ts';
import { runInTurns } from '../kit/turns.ts';
import { callerOf } from './caller-of.ts';
import type { Call, Handler } from './route.ts';

/** `GET /generation`. */
export const showGeneration: Handler = async (call) => {
  const generation = await call.services.generations.get(callerOf(call).accountId, idOf(call));
  call.exchange.reply.json(200, { data: generationObject(generation) });
};

/** `GET /generation/content`. */
export const showGenerationContent: Handler = async (call) => {
  const content = await call.services.generations.contentOf(callerOf(call).accountId, idOf(call));
  const pieces = await runInTurns(stringifySliced({ data: content }));
  call.exchange.reply.jsonText(200, pieces.join(''));
};

function idOf({ query }: Call): string {
  return (query as GenerationQuery).id;
}
