import type { EventBatch } from '../../../ir/events.ts';
import { Fold } from '../../../ir/folding/fold.ts';
import { unfold } from '../../../ir/folding/unfold.ts';
import type { MessageItem, OutputItem } from '../../../ir/items.ts';
import { pluginIn, pluginPlace } from '../../../ir/plugins.ts';
import type { GenerationRequest, OutputFormat } from '../../../ir/request.ts';
import type { Result } from '../../../ir/result.ts';
import { healJson } from '../../../kit/json/heal-json.ts';
import { isJsonObject, type Json } from '../../../kit/json/json.ts';
import { StepBudget } from '../../../kit/json-schema/budget.ts';
import { fitsSchema } from '../../../kit/json-schema/schema-check.ts';
import type { Next, Stage, StageContext } from '../../stage.ts';

export const RESPONSE_HEALING = 'response-healing';

/** Steps for checking an answer against its schema; an answer that needs more counts as valid. */
const MAX_SCHEMA_STEPS = 20_000;

/** Repairs whole answers that should be JSON and nearly are. Answers that were cut off stay unchanged. */
export const responseHealingStage: Stage = {
  name: RESPONSE_HEALING,
  touches: 'answer',
  isActive: (request) => pluginIn(request, RESPONSE_HEALING) !== undefined && canHeal(request),
  unmetWish(request) {
    const plugin = pluginIn(request, RESPONSE_HEALING);
    if (plugin === undefined || canHeal(request)) return undefined;
    const detail = 'it works on whole answers alone that are asked to be JSON';
    return { field: pluginPlace(request, plugin), action: 'dropped', detail };
  },
  around: heal,
  endsWithLeg: () => true,
};

/** True if answers to a request can be healed: they are not streamed, and should be JSON. */
function canHeal({ stream, outputFormat }: Pick<GenerationRequest, 'stream' | 'outputFormat'>): boolean {
  return !stream && (outputFormat?.type === 'json' || outputFormat?.type === 'json-schema');
}

async function* heal(
  request: GenerationRequest,
  next: Next,
  context: StageContext,
): AsyncGenerator<EventBatch, void, undefined> {
  const fold = new Fold();
  const batches: EventBatch[] = [];
  for await (const batch of next(request)) {
    fold.pushAll(batch);
    batches.push(batch);
  }
  const result = fold.result();
  const healed = healedResult(result, request.outputFormat, context);
  if (healed === undefined) yield* batches;
  else yield unfold(healed);
}

/** Undefined if nothing needs healing or can be healed. */
function healedResult(
  result: Result,
  format: OutputFormat | undefined,
  { note }: StageContext,
): Result | undefined {
  // Messages before the last one introduce calls of server tools.
  const index = result.items.findLastIndex((item) => item.type === 'message');
  const text = result.finish?.reason === 'stop' ? onlyText(result.items[index]) : undefined;
  if (text === undefined || isRight(format, text)) return undefined;
  const healed = healJson(text, (value) => fits(format, value));
  const mode = format?.type === 'json-schema' ? 'json_schema' : 'json_object';
  note({
    type: 'response_healing',
    name: RESPONSE_HEALING,
    summary: healed === undefined ? 'The answer is no JSON that was asked for' : 'The answer was made JSON',
    data: {
      mode,
      improved: healed !== undefined,
      original_length: text.length,
      ...(healed !== undefined && {
        healed_length: healed.text.length,
        repaired: healed.isRepaired,
        removed_length: healed.removedCharacters,
      }),
    },
  });
  return healed === undefined ? undefined : withText(result, index, healed.text);
}

/** The text of a complete message without other parts. */
function onlyText(item: OutputItem | undefined): string | undefined {
  if (item?.type !== 'message' || item.status === 'incomplete') return undefined;
  const [part, ...others] = item.content;
  return part?.type === 'text' && others.length === 0 ? part.text : undefined;
}

function isRight(format: OutputFormat | undefined, text: string): boolean {
  try {
    return fits(format, JSON.parse(text) as Json);
  } catch {
    return false;
  }
}

function fits(format: OutputFormat | undefined, value: Json): boolean {
  if (format?.type !== 'json-schema') return isJsonObject(value);
  const budget = new StepBudget(MAX_SCHEMA_STEPS);
  return fitsSchema(value, format.schema, format.schema, budget) || budget.steps < 0;
}

/** Drops annotations, whose positions no longer exist. */
function withText(result: Result, index: number, text: string): Result {
  const message = result.items[index] as MessageItem;
  const healed: MessageItem = { ...message, content: [{ type: 'text', text }] };
  return { ...result, items: result.items.with(index, healed) };
}
