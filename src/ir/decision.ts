export interface DecisionOption {
  /** What the caller gets if it is chosen. */
  readonly value: string | boolean;
  /** Its name for a model; unique within the question. */
  readonly label: string;
}

export interface DecisionQuestion {
  /** What the caller calls it; null = nothing. */
  readonly name: string | null;
  /** `predicate` asks for a probability, `choice` for an option, `score` for one of an ordered list. */
  readonly kind: 'predicate' | 'choice' | 'score';
  /** Empty for a predicate; from the lowest to the highest for a score. */
  readonly options: readonly DecisionOption[];
}

/** The forms in which decisions are asked for: that of OpenAI, and System One, which several providers share. */
export type DecisionForm = 'openai' | 'system-one';

/** A request for decisions. Its items ask the same of a model that has conversations. */
export interface DecisionSettings {
  readonly form: DecisionForm;
  /** In the order of the answers; at least one. */
  readonly questions: readonly DecisionQuestion[];
}
