import { lookUp } from '../../kit/collections/lookup.ts';

/**
 * Converse is one interface to models of many makers, and a few things are still said to each in its own words. They
 * are told apart by the maker, whom every model id names: `us.anthropic.claude-...`.
 */
export interface ModelTraits {
  /** How thinking is asked for: `thinking` in the words of the messages format, or a field with a word for the effort. */
  readonly reasoning?: 'thinking' | 'reasoningConfig' | 'reasoning_effort';
  /** Where `top_k` goes among the additional fields of a request. */
  readonly topK?: readonly string[];
  /** Where the model takes cache points: in the tools too, in the prompt only, or nowhere. */
  readonly cachePoints?: 'everywhere' | 'prompt';
  /** The model takes the length of time for which a cache point holds. */
  readonly hasCacheTtl?: true;
  /** The model can be told that a tool failed. */
  readonly hasResultStatus?: true;
  /** The model can be held to a JSON schema. */
  readonly hasSchemas?: true;
  /** The model takes betas of the messages format. */
  readonly hasBetas?: true;
}

const ANTHROPIC: ModelTraits = {
  reasoning: 'thinking',
  topK: ['top_k'],
  cachePoints: 'everywhere',
  hasCacheTtl: true,
  hasResultStatus: true,
  hasSchemas: true,
  hasBetas: true,
};

/** Makers whose models share no peculiarity that we know of. */
const PLAIN: ModelTraits = {};

const WITH_SCHEMAS: ModelTraits = { hasSchemas: true };

const TRAITS: Readonly<Record<string, ModelTraits>> = {
  anthropic: ANTHROPIC,
  amazon: {
    reasoning: 'reasoningConfig',
    topK: ['inferenceConfig', 'topK'],
    cachePoints: 'prompt',
    hasResultStatus: true,
  },
  openai: { reasoning: 'reasoning_effort', hasSchemas: true },
  mistral: { topK: ['top_k'], hasSchemas: true },
  cohere: { topK: ['k'] },
  ai21: PLAIN,
  deepseek: WITH_SCHEMAS,
  google: WITH_SCHEMAS,
  meta: PLAIN,
  minimax: WITH_SCHEMAS,
  moonshot: WITH_SCHEMAS,
  moonshotai: WITH_SCHEMAS,
  nvidia: WITH_SCHEMAS,
  qwen: WITH_SCHEMAS,
  writer: PLAIN,
  xai: PLAIN,
  zai: WITH_SCHEMAS,
};

/** The traits of a model. An id that names no maker, as those of own profiles, gets the widest ones. */
export function traitsOf(model: string): ModelTraits {
  const known = model.split(/[.:/]/).map((segment) => lookUp(TRAITS, segment));
  return known.find((traits) => traits !== undefined) ?? ANTHROPIC;
}
