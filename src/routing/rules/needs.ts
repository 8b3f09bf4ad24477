import type { Item, Part } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';

/** What a request needs of whoever serves it. */
export interface Needs {
  /** Input kinds besides text: image, file, audio, video. */
  readonly inputModalities: ReadonlySet<string>;
  readonly outputModalities: ReadonlySet<string>;
  /** Parameters it carries, by their public names. */
  readonly parameters: ReadonlySet<string>;
  /** The most that it lets be written; undefined = it does not say. */
  readonly outputTokens: number | undefined;
  /** What an endpoint must at least be able to write; absent = all of `outputTokens`. */
  readonly leastOutput?: number;
  /** Length of the prompt; undefined = not counted, because it is far from any limit. */
  readonly promptTokens?: number;
}

const MODALITY_OF: Readonly<Partial<Record<Part['type'], string>>> = {
  image: 'image',
  file: 'file',
  audio: 'audio',
  video: 'video',
};

/** Reads off a request what it needs. */
export function needsOf(request: GenerationRequest): Needs {
  const inputModalities = new Set<string>();
  for (const item of request.items) {
    for (const part of partsOf(item)) {
      const modality = MODALITY_OF[part.type];
      if (modality !== undefined && !isPlainText(part)) inputModalities.add(modality);
    }
  }
  return {
    inputModalities,
    outputModalities: new Set((request.modalities ?? []).filter((modality) => modality !== 'text')),
    parameters: new Set(PARAMETERS.filter(([, isUsed]) => isUsed(request)).map(([name]) => name)),
    outputTokens: request.maxOutputTokens,
  };
}

function partsOf(item: Item): readonly Part[] {
  return item.type === 'message' || item.type === 'tool-result' ? item.content : [];
}

/** A text document is text, whatever it is wrapped in. */
function isPlainText(part: Part): boolean {
  return part.type === 'file' && part.source.kind === 'text';
}

/** Public parameter names and how to see that a request uses them. */
const PARAMETERS: readonly (readonly [string, (request: GenerationRequest) => boolean])[] = [
  ['temperature', ({ sampling }) => sampling.temperature !== undefined],
  ['top_p', ({ sampling }) => sampling.topP !== undefined],
  ['top_k', ({ sampling }) => sampling.topK !== undefined],
  ['top_a', ({ sampling }) => sampling.topA !== undefined],
  ['min_p', ({ sampling }) => sampling.minP !== undefined],
  ['frequency_penalty', ({ sampling }) => sampling.frequencyPenalty !== undefined],
  ['presence_penalty', ({ sampling }) => sampling.presencePenalty !== undefined],
  ['repetition_penalty', ({ sampling }) => sampling.repetitionPenalty !== undefined],
  ['seed', ({ sampling }) => sampling.seed !== undefined],
  ['stop', ({ sampling }) => sampling.stop !== undefined],
  ['logit_bias', ({ sampling }) => sampling.logitBias !== undefined],
  ['logprobs', ({ sampling }) => sampling.logprobs === true],
  ['top_logprobs', ({ sampling }) => sampling.topLogprobs !== undefined],
  ['max_tokens', ({ maxOutputTokens }) => maxOutputTokens !== undefined],
  ['tools', ({ tools }) => tools.length > 0],
  ['tool_choice', ({ toolChoice }) => toolChoice !== undefined && toolChoice.mode !== 'auto'],
  ['parallel_tool_calls', ({ parallelToolCalls }) => parallelToolCalls !== undefined],
  ['response_format', ({ outputFormat }) => outputFormat !== undefined && outputFormat.type === 'json'],
  ['structured_outputs', ({ outputFormat }) => outputFormat?.type === 'json-schema'],
  ['reasoning', ({ reasoning }) => reasoning !== undefined],
  ['verbosity', ({ verbosity }) => verbosity !== undefined],
];
