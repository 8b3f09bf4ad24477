import Type from 'typebox';
import type { Model } from '../catalog/catalog.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { numberAt, stringAt, stringsAt } from '../kit/json/members.ts';
import { closed, nullish } from '../kit/json/schema.ts';
import { formatPrice } from '../kit/money.ts';
import type { ServerTool } from './server-tool.ts';

const DEFAULT_MAX_RESULTS = 5;
const MOST_RESULTS = 20;

const DESCRIPTION_CHARACTERS = 300;

const MODALITIES = { type: 'array', items: { type: 'string' }, maxItems: 8 };

export const searchModels: ServerTool = {
  name: 'experimental__search_models',
  costsNothing: true,
  parameters: closed({ max_results: nullish(Type.Integer({ minimum: 1, maximum: MOST_RESULTS })) }),
  runsAlone: () => true,
  declare: ({ max_results = DEFAULT_MAX_RESULTS }) => ({
    description: `Finds language models that can be used here, with their limits and prices: at most ${max_results}.`,
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', maxLength: 512, description: 'Words of the id, name or description' },
        input_modalities: { ...MODALITIES, description: 'Kinds of input it must take, such as image' },
        output_modalities: { ...MODALITIES, description: 'Kinds of output it must write, such as image' },
        min_context_length: { type: 'integer', minimum: 0, description: 'Tokens' },
        series: { type: 'string', maxLength: 128, description: 'Author or family, such as acme' },
      },
    },
  }),
  async run({ arguments: asked, parameters }, { settings: { catalog } }) {
    const most = numberAt(parameters, 'max_results') ?? DEFAULT_MAX_RESULTS;
    const found = foundModels(catalog.models, asked);
    const models = found.slice(0, most).map(modelResult);
    const result = { models, total_results: found.length, showing: models.length };
    return { output: JSON.stringify(result), shown: { query: stringAt(asked, 'query') ?? '', ...result } };
  },
};

/** The models that fit, the best match first. */
export function foundModels(models: readonly Model[], asked: JsonObject): readonly Model[] {
  const words = wordsOf(stringAt(asked, 'query') ?? '');
  const series = (stringAt(asked, 'series') ?? '').toLowerCase();
  const inputs = stringsAt(asked, 'input_modalities') ?? [];
  const outputs = stringsAt(asked, 'output_modalities') ?? [];
  const context = numberAt(asked, 'min_context_length') ?? 0;
  return models
    .filter(
      (model) =>
        model.endpoints.length > 0 &&
        inputs.every((kind) => model.inputModalities.includes(kind)) &&
        outputs.every((kind) => model.outputModalities.includes(kind)) &&
        (context === 0 || (model.contextLength ?? 0) >= context) &&
        `${model.id} ${model.name}`.toLowerCase().includes(series),
    )
    .map((model) => ({ model, score: scoreOf(model, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || qualityOf(other.model) - qualityOf(one.model))
    .map(({ model }) => model);
}

function wordsOf(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}.]+/u)
    .filter(Boolean);
}

/**
 * Words in the id or name count more than those in the description, and most at the beginning of one of their words.
 * 0 = a word is nowhere.
 */
function scoreOf({ id, name, aliases, description }: Model, words: readonly string[]): number {
  const title = [id, name, ...aliases].join(' ').toLowerCase();
  const titleWords = wordsOf(title);
  const text = description.toLowerCase();
  let score = 1;
  for (const word of words) {
    if (titleWords.some((each) => each.startsWith(word))) score += 5;
    else if (title.includes(word)) score += 3;
    else if (text.includes(word)) score += 1;
    else return 0;
  }
  return score;
}

function qualityOf({ quality: { general = 0, coding = 0 } }: Model): number {
  return Math.max(general, coding);
}

function modelResult(model: Model): JsonObject {
  const { id, name, description, contextLength, maxOutputTokens, inputModalities, outputModalities } = model;
  const { prompt, completion } = model.endpoints[0]?.pricing ?? {};
  return {
    id,
    name,
    description: description.slice(0, DESCRIPTION_CHARACTERS),
    context_length: contextLength ?? null,
    max_output_tokens: maxOutputTokens ?? null,
    input_modalities: [...inputModalities],
    output_modalities: [...outputModalities],
    pricing: {
      ...(prompt !== undefined && { prompt: formatPrice(prompt) }),
      ...(completion !== undefined && { completion: formatPrice(completion) }),
    },
  };
}
