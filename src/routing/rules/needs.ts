import type { DecisionForm } from '../../ir/decision.ts';
import type { EmbeddingSettings } from '../../ir/embedding.ts';
import type { Item, Part } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';

export interface Needs {
  /** Input kinds besides text: image, file, audio, video. */
  readonly inputModalities: ReadonlySet<string>;
  readonly outputModalities: ReadonlySet<string>;
  /** Parameters that it uses, by their public names. */
  readonly parameters: ReadonlySet<string>;
  readonly requestedOutputTokens: number | undefined;
  /** Output that an endpoint must be able to write; absent = `requestedOutputTokens`. */
  readonly minOutputTokens?: number;
  /** Inputs of embeddings are ids of tokens; absent = texts, or no embeddings. */
  readonly tokenIds?: boolean;
  /** The form in which decisions are asked for; absent = none are. */
  readonly decisionForm?: DecisionForm;
  /** Calls are to be checked by the upstream; absent = they are not. */
  readonly safeguards?: true;
  /** Length of the prompt; undefined = not counted, because it is far from any limit. */
  readonly promptTokens?: number;
}

const MODALITY_OF: Readonly<Partial<Record<Part['type'], string>>> = {
  image: 'image',
  file: 'file',
  audio: 'audio',
  video: 'video',
};

export function needsOf(request: GenerationRequest): Needs {
  return {
    inputModalities: inputModalitiesOf(request.items),
    outputModalities: outputModalitiesOf(request.modalities),
    parameters: parametersOf(request),
    requestedOutputTokens: request.requestedOutputTokens,
    ...(request.ext.messages?.safeguards !== undefined && { safeguards: true as const }),
    ...(request.embedding !== undefined && { tokenIds: hasTokenIds(request.embedding) }),
    ...(request.decision !== undefined && { decisionForm: request.decision.form }),
  };
}

function hasTokenIds({ inputs }: EmbeddingSettings): boolean {
  return inputs.some((input) => typeof input !== 'string');
}

const TEXT_ALONE: ReadonlySet<string> = new Set();

function inputModalitiesOf(items: readonly Item[]): ReadonlySet<string> {
  let modalities: Set<string> | undefined;
  for (const item of items) {
    for (const part of partsOf(item)) {
      if (part.type === 'text') continue;
      const modality = MODALITY_OF[part.type];
      if (modality === undefined || isPlainText(part)) continue;
      modalities ??= new Set();
      modalities.add(modality);
    }
  }
  return modalities ?? TEXT_ALONE;
}

/** Outputs besides text that models differ in. Other words are for the upstream to know. */
const ROUTED_OUTPUTS: ReadonlySet<string> = new Set(['image', 'audio', 'video']);

function outputModalitiesOf(modalities: readonly string[] | undefined): ReadonlySet<string> {
  return modalities === undefined
    ? TEXT_ALONE
    : new Set(modalities.filter((modality) => ROUTED_OUTPUTS.has(modality)));
}

function parametersOf(request: GenerationRequest): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name, isUsed } of PARAMETERS) if (isUsed(request)) names.add(name);
  return names;
}

function partsOf(item: Item): readonly Part[] {
  return item.type === 'message' || item.type === 'tool-result' ? item.content : NO_PARTS;
}

const NO_PARTS: readonly Part[] = [];

/** A file with text content is text input. */
function isPlainText(part: Part): boolean {
  return part.type === 'file' && part.source.kind === 'text';
}

interface Parameter {
  readonly name: string;
  readonly isUsed: (request: GenerationRequest) => boolean;
}

const PARAMETERS: readonly Parameter[] = [
  { name: 'temperature', isUsed: ({ sampling }) => sampling.temperature !== undefined },
  { name: 'top_p', isUsed: ({ sampling }) => sampling.topP !== undefined },
  { name: 'top_k', isUsed: ({ sampling }) => sampling.topK !== undefined },
  { name: 'top_a', isUsed: ({ sampling }) => sampling.topA !== undefined },
  { name: 'min_p', isUsed: ({ sampling }) => sampling.minP !== undefined },
  { name: 'frequency_penalty', isUsed: ({ sampling }) => sampling.frequencyPenalty !== undefined },
  { name: 'presence_penalty', isUsed: ({ sampling }) => sampling.presencePenalty !== undefined },
  { name: 'repetition_penalty', isUsed: ({ sampling }) => sampling.repetitionPenalty !== undefined },
  { name: 'seed', isUsed: ({ sampling }) => sampling.seed !== undefined },
  { name: 'stop', isUsed: ({ sampling }) => sampling.stop !== undefined },
  { name: 'logit_bias', isUsed: ({ sampling }) => sampling.logitBias !== undefined },
  { name: 'logprobs', isUsed: ({ sampling }) => sampling.logprobs === true },
  { name: 'top_logprobs', isUsed: ({ sampling }) => sampling.topLogprobs !== undefined },
  { name: 'max_tokens', isUsed: ({ requestedOutputTokens }) => requestedOutputTokens !== undefined },
  { name: 'tools', isUsed: ({ tools }) => tools.length > 0 },
  { name: 'tool_choice', isUsed: ({ toolChoice }) => toolChoice !== undefined && toolChoice.mode !== 'auto' },
  { name: 'parallel_tool_calls', isUsed: ({ parallelToolCalls }) => parallelToolCalls !== undefined },
  {
    name: 'response_format',
    isUsed: ({ outputFormat }) => outputFormat !== undefined && outputFormat.type === 'json',
  },
  { name: 'structured_outputs', isUsed: ({ outputFormat }) => outputFormat?.type === 'json-schema' },
  { name: 'reasoning', isUsed: ({ reasoning }) => reasoning !== undefined },
  { name: 'verbosity', isUsed: ({ verbosity }) => verbosity !== undefined },
  { name: 'dimensions', isUsed: ({ embedding }) => embedding?.dimensions !== undefined },
  { name: 'input_type', isUsed: ({ embedding }) => embedding?.inputType !== undefined },
];
