import type { EmbeddingDialectName, ReasoningFormat } from './items.ts';

/**
 * What a provider does otherwise than the dialect it speaks, as data: renderers and decoders look at these members
 * and never at a provider's name. An absent member means that the dialect is spoken as written. Most are of the chat
 * dialect, whose upstreams differ most.
 */
export interface Quirks {
  /** The field that limits the output; absent = `max_tokens`, which more servers know. */
  readonly outputLimitField?: 'max_tokens' | 'max_completion_tokens';
  /** Fields of the body that the provider answers with an error: they are left out, and in the report if asked for. */
  readonly refusedFields?: readonly string[];
  /** Fields of the body that have another name here. */
  readonly renamedFields?: Readonly<Record<string, string>>;
  /** How many stop sequences the provider takes; absent = as many as the chat dialect does. */
  readonly mostStopSequences?: number;
  /** The role `developer` is refused: such messages go out as `system`. */
  readonly refusesDeveloperRole?: boolean;
  /** Content that is a list is refused where it is text alone: it goes out as one string. */
  readonly refusesTextLists?: boolean;
  /**
   * The member of assistant messages in which the text of thoughts goes back, empty beside tool calls without thoughts;
   * absent = thoughts without a seal do not go back.
   */
  readonly thoughtsMember?: 'reasoning_content' | 'reasoning';
  /** Schemas of the answer are refused: any JSON object is asked for instead. */
  readonly refusesSchemas?: boolean;
  /** The form that ids of tool calls must have: nine letters and digits. */
  readonly toolCallIds?: 'nine-alphanumerics';
  /**
   * The field that steers thinking; absent = `reasoning_effort`, a word. `reasoning`: an object with effort or budget;
   * `thinking`: on or off, as `{type}`; `enable_thinking`: on or off, with a budget beside it.
   */
  readonly thinkingField?: 'reasoning' | 'thinking' | 'enable_thinking';
  /** The highest word for effort that the provider knows; absent = the highest of the dialect. */
  readonly highestEffort?: 'xhigh' | 'max';
  /**
   * Hosted tools of the chat dialect, by type, that the provider runs for models whose own name matches; absent = none,
   * so that the gateway may.
   */
  readonly hostedTools?: { readonly types: readonly string[]; readonly models: RegExp };
  /** Types of hosted tools that this provider alone runs: requests of every format may name them; absent = none. */
  readonly ownTools?: readonly string[];
  /** Answers may come in the events and bodies of another interface: `cohere` = the second version of Cohere's chat. */
  readonly answerForm?: 'cohere';
  /** The dialect of its embeddings; absent = the usual one beside its dialect of conversations. */
  readonly embeddings?: EmbeddingDialectName;
  /** Turns of the role `system` are taken among the messages of the messages dialect; else they go out as user text. */
  readonly takesSystemTurns?: boolean;
  /** The version of the messages dialect that a caller names is sent; else the one that every server knows. */
  readonly takesCallersVersion?: boolean;
  /** Conversations of the responses dialect are compacted by the provider itself (`/responses/compact`). */
  readonly compacts?: true;
  /**
   * The reasoning format of seals that the provider mints without naming one: they go back only to providers of its
   * family. Absent = that of the dialect.
   */
  readonly reasoningFormat?: ReasoningFormat;
  /** Fields that the provider takes although the responses dialect does not have them. */
  readonly furtherFields?: readonly FurtherField[];
  /** Log probabilities are requested by the field `logprobs`, not in `include`. */
  readonly takesLogprobsField?: boolean;
  /** Calls of custom tools that a request does not declare are calls of the provider's own tools, which it ran. */
  readonly showsOwnCallsAsCustom?: boolean;
  /** An answer that is given up is written to its end all the same, and billed: it is better read to its end. */
  readonly billsAbandoned?: boolean;
}

/** Sampling settings that some providers of the responses dialect take. */
export type FurtherField = 'seed' | 'top_k' | 'min_p';

export const NO_QUIRKS: Quirks = {};
