import Type from 'typebox';
import { closed, described, nullish, oneOf } from '../../kit/json/schema.ts';
import {
  datedPrices,
  day,
  dayOrMonth,
  endpointTag,
  inputModalities,
  modelId,
  outputModalities,
  parameterNames,
  pricing,
  providerSlug,
  quality,
  quantization,
  reasoning,
  tokens,
} from './catalog-members.ts';
import { text } from './key-kinds.ts';

const endpoint = closed({
  provider: described('Slug of the provider.', providerSlug),
  model: described("The provider's own name of the model; absent: the id.", nullish(text(512))),
  tag: described(
    'Name of the endpoint in routing preferences, such as acme/turbo; absent: the slug of the provider.',
    nullish(endpointTag),
  ),
  quantization: described('Number format of the weights.', nullish(quantization)),
  context_length: described(
    'Most tokens of prompt and answer here; absent: that of the model.',
    nullish(tokens),
  ),
  max_output_tokens: described('Most tokens of an answer here; absent: that of the model.', nullish(tokens)),
  max_inputs: described(
    'Inputs of embeddings that one call takes. Larger requests are split; absent: as many as its dialect takes.',
    nullish(tokens),
  ),
  max_messages: described(
    'Messages that one prompt may have here. Context compression leaves out the middle of longer ones; absent: any number.',
    nullish(tokens),
  ),
  decisions: described(
    'The upstream answers decisions itself, in this form: openai at /decisions, system-one at /systemone. More: [Decisions](decisions.md).',
    nullish(oneOf(['openai', 'system-one'])),
  ),
  supported_parameters: described(
    'Request parameters that the endpoint honours; absent: all of its dialect.',
    nullish(parameterNames),
  ),
  pricing: described(
    'Prices in USD of one unit, exact decimals in quotes; or for a million: prompt_per_million: 1.25.',
    nullish(pricing),
  ),
  prices: described(
    'Prices that begin on a later day, oldest first; until then pricing holds.',
    nullish(datedPrices),
  ),
  unpriced: described(
    'The same for one endpoint; absent: as its provider says.',
    nullish(oneOf(['allow', 'refuse'])),
  ),
});

/**
 * The schema of a model in the configuration file. No defaults: members that the file leaves out come from the shipped
 * catalogue.
 */
export const model = closed({
  id: described('Name that callers use, such as acme/large.', modelId),
  name: described('Name for display.', nullish(text(200))),
  created: described('Day of release.', nullish(day)),
  knowledge_cutoff: described('Day or month of the end of its training data.', nullish(dayOrMonth)),
  context_length: described('Most tokens of prompt and answer together.', nullish(tokens)),
  max_output_tokens: described('Most tokens of an answer.', nullish(tokens)),
  input_modalities: described('Kinds of content that a prompt may hold.', nullish(inputModalities)),
  output_modalities: described(
    'Kinds of content that an answer holds; [embeddings] for POST /embeddings.',
    nullish(outputModalities),
  ),
  aliases: described('Other names that callers may use.', nullish(Type.Array(modelId))),
  quality: described('Scores that the routers compare, 0 to 1.', nullish(quality)),
  reasoning: described(
    'Whether and how the model reasons; absent: unknown, settings are passed on as the dialect has them.',
    nullish(reasoning),
  ),
  distillable: described('Whether its answers may be used to train other models.', nullish(Type.Boolean())),
  endpoints: described(
    'Where the model is served: a provider each, with its name of the model, limits and prices.',
    Type.Array(endpoint, { minItems: 1 }),
  ),
});
