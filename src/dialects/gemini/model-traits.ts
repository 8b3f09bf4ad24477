/** Thinking levels, from the lowest. */
export type ThinkingLevel = 'minimal' | 'low' | 'medium' | 'high';

export type ThinkingControl =
  | { readonly by: 'level'; readonly levels: readonly ThinkingLevel[] }
  /** Tokens. `least` and `most` do not apply to 0, which switches thinking off. */
  | { readonly by: 'budget'; readonly least: number; readonly most: number; readonly canStop: boolean };

/** Differences between generations of models. */
export interface ModelTraits {
  /** Absent = the model does not think. */
  readonly thinking?: ThinkingControl;
  /** True if the first call of a turn must have a signature. */
  readonly demandsSignatures: boolean;
  /** True if tool results may have images and files, not only text. */
  readonly takesMediaInResults: boolean;
  /** True if an output format may be requested together with tools. */
  readonly takesFormatWithTools: boolean;
  /** True if a prompt is billed once for all its searches, not for each query. */
  readonly billsSearchesOnce: boolean;
}

const THIRD_GENERATION = {
  demandsSignatures: true,
  takesMediaInResults: true,
  takesFormatWithTools: true,
  billsSearchesOnce: false,
} as const;

const SECOND_GENERATION = {
  demandsSignatures: false,
  takesMediaInResults: false,
  takesFormatWithTools: false,
  billsSearchesOnce: true,
} as const;

function byLevel(...levels: ThinkingLevel[]): ModelTraits {
  return { thinking: { by: 'level', levels }, ...THIRD_GENERATION };
}

function byBudget(least: number, most: number, canStop: boolean): ModelTraits {
  return { thinking: { by: 'budget', least, most, canStop }, ...SECOND_GENERATION };
}

/** Traits by the name of the model; the first match counts. */
const TRAITS: readonly (readonly [RegExp, ModelTraits])[] = [
  [/gemini-3-pro/, byLevel('low', 'high')],
  [/gemini-(?:[3-9]|\d\d)[\d.]*-pro|gemini-pro-latest/, byLevel('low', 'medium', 'high')],
  [/gemini-(?:[3-9]|\d\d)|gemini-[a-z-]+-latest/, byLevel('minimal', 'low', 'medium', 'high')],
  [/gemini-2\.5-pro/, byBudget(128, 32_768, false)],
  [/gemini-2\.5-flash-lite/, byBudget(512, 24_576, true)],
  [/gemini-2\.5/, byBudget(1, 24_576, true)],
  [/gemini-(?:1|2\.0)|gemma|learnlm/, SECOND_GENERATION],
];

/** Traits of an unknown model: settings that every thinking model takes. */
const UNKNOWN: ModelTraits = { ...byBudget(1, 24_576, true), billsSearchesOnce: false };

export function traitsOf(model: string): ModelTraits {
  return TRAITS.find(([pattern]) => pattern.test(model))?.[1] ?? UNKNOWN;
}
