/** Words for how much to think, from the least. */
export type ThinkingLevel = 'minimal' | 'low' | 'medium' | 'high';

/** How a model is told how much to think. */
export type ThinkingControl =
  | { readonly by: 'level'; readonly levels: readonly ThinkingLevel[] }
  /** Tokens. `least` and `most` do not bind the switch-off, which is a budget of 0. */
  | { readonly by: 'budget'; readonly least: number; readonly most: number; readonly canStop: boolean };

/** What upstreams of this dialect do otherwise from one generation of models to the next. */
export interface ModelTraits {
  /** Absent: the model does not think. */
  readonly thinking?: ThinkingControl;
  /** The first call of a turn must carry a signature. */
  readonly demandsSignatures: boolean;
  /** Results of tools may hold images and files, not only text. */
  readonly takesMediaInResults: boolean;
  /** An output format may be asked for beside tools. */
  readonly takesFormatWithTools: boolean;
}

const THIRD_GENERATION = {
  demandsSignatures: true,
  takesMediaInResults: true,
  takesFormatWithTools: true,
} as const;

const SECOND_GENERATION = {
  demandsSignatures: false,
  takesMediaInResults: false,
  takesFormatWithTools: false,
} as const;

function byLevel(...levels: ThinkingLevel[]): ModelTraits {
  return { thinking: { by: 'level', levels }, ...THIRD_GENERATION };
}

function byBudget(least: number, most: number, canStop: boolean): ModelTraits {
  return { thinking: { by: 'budget', least, most, canStop }, ...SECOND_GENERATION };
}

/** By the name of the model; the first pattern that fits decides. */
const TRAITS: readonly (readonly [RegExp, ModelTraits])[] = [
  [/gemini-3-pro/, byLevel('low', 'high')],
  [/gemini-(?:[3-9]|\d\d)[\d.]*-pro|gemini-pro-latest/, byLevel('low', 'medium', 'high')],
  [/gemini-(?:[3-9]|\d\d)|gemini-[a-z-]+-latest/, byLevel('minimal', 'low', 'medium', 'high')],
  [/gemini-2\.5-pro/, byBudget(128, 32_768, false)],
  [/gemini-2\.5-flash-lite/, byBudget(512, 24_576, true)],
  [/gemini-2\.5/, byBudget(1, 24_576, true)],
  [/gemini-(?:1|2\.0)|gemma|learnlm/, SECOND_GENERATION],
];

/** A name that says nothing: what every thinking model takes. */
const UNKNOWN: ModelTraits = byBudget(1, 24_576, true);

/** What is known of a model by the upstream's own name of it. */
export function traitsOf(model: string): ModelTraits {
  return TRAITS.find(([pattern]) => pattern.test(model))?.[1] ?? UNKNOWN;
}
