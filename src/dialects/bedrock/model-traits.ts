import { lookUp } from '../../kit/collections/lookup.ts';

/**
 * Converse is one interface to the models of many makers, and a few settings still differ between them. The maker is
 * part of every model id: `us.anthropic.claude-...`.
 */
export interface ModelTraits {
  /** How thinking is requested: `thinking` as in the messages format, or a field with a word for the effort. */
  readonly reasoning?: 'thinking' | 'reasoningConfig' | 'reasoning_effort';
  /** Path of `top_k` among the additional fields of a request. */
  readonly topK?: readonly string[];
  /** Places that accept cache points: tools and prompt, the prompt only, or none (absent). */
  readonly cachePoints?: 'everywhere' | 'prompt';
  /** True if cache points accept a lifetime. */
  readonly hasCacheTtl?: true;
  readonly hasResultStatus?: true;
  readonly hasSchemas?: true;
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

/** Makers without known peculiarities. */
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

/** The traits of a model. An id without a maker, such as that of an inference profile, gets the widest ones. */
export function traitsOf(model: string): ModelTraits {
  const known = model.split(/[.:/]/).map((segment) => lookUp(TRAITS, segment));
  return known.find((traits) => traits !== undefined) ?? ANTHROPIC;
}
