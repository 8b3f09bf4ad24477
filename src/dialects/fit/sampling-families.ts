import type { Sampling } from '../../ir/settings.ts';

/** Deviations of a model family from its dialect in sampling settings. */
export interface SamplingFamily {
  /** Matches public slugs and upstream names, at any provider. */
  readonly models: RegExp;
  /** Settings that the models answer with an error, unless they have the neutral value. */
  readonly refused?: Readonly<Partial<Record<keyof Sampling, unknown>>>;
  /** True if the models refuse the settings only while thinking: they take them with effort `none`. */
  readonly takesWithoutThinking?: boolean;
  /** True if the models take a temperature or `top_p`, not both. */
  readonly takesOneOfBoth?: boolean;
}

/** Values without effect. */
const CLAUDE_SETTINGS = { temperature: 1, topP: 1, topK: undefined } as const;
const REASONING_SETTINGS = {
  temperature: 1,
  topP: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  logitBias: undefined,
  logprobs: false,
  topLogprobs: undefined,
} as const;

/** The first matching row counts. A date may follow a number at the end of a name. */
export const SAMPLING_FAMILIES: readonly SamplingFamily[] = [
  {
    models: /claude-(?:opus-(?:4[-.][789]|[5-9])|(?:haiku|sonnet)-5[-.]5|fable-5(?![-.]\d(?!\d)))(?!\d)/,
    refused: CLAUDE_SETTINGS,
  },
  {
    models: /claude-(?:opus-4[-.][1-9]|(?:sonnet|haiku)-4[-.][5-9]|[a-z]+-[5-9])(?!\d)/,
    takesOneOfBoth: true,
  },
  {
    models: /(?:^|[/:.])gpt-(?:5\.[1-9]|[6-9])(?!\d)(?!.*chat)/,
    refused: REASONING_SETTINGS,
    takesWithoutThinking: true,
  },
  { models: /(?:^|[/:.])(?:o[1-9](?![\w.])|gpt-5(?![\d.])(?!.*chat))/, refused: REASONING_SETTINGS },
];
