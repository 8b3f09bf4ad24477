import type { Format } from '../../../ir/items.ts';
import type { TranslationEntry } from '../../../ir/metadata.ts';
import type { Places } from '../../../ir/places.ts';
import type { GenerationRequest, RequestField } from '../../../ir/request.ts';

/** Names of request fields as the caller knows them, per format. Where a format lacks one, the responses name is used. */
const FIELD_NAMES: Readonly<
  Record<RequestField, Readonly<Partial<Record<Format, string>> & { responses: string }>>
> = {
  temperature: { responses: 'temperature' },
  topP: { responses: 'top_p' },
  topK: { responses: 'top_k' },
  topA: { responses: 'top_a' },
  minP: { responses: 'min_p' },
  frequencyPenalty: { responses: 'frequency_penalty' },
  presencePenalty: { responses: 'presence_penalty' },
  repetitionPenalty: { responses: 'repetition_penalty' },
  seed: { responses: 'seed' },
  stop: { responses: 'stop', messages: 'stop_sequences' },
  logitBias: { responses: 'logit_bias' },
  logprobs: { responses: 'logprobs' },
  topLogprobs: { responses: 'top_logprobs' },
  maxOutputTokens: { responses: 'max_output_tokens', messages: 'max_tokens', chat: 'max_tokens' },
  tools: { responses: 'tools' },
  toolChoice: { responses: 'tool_choice' },
  parallelToolCalls: { responses: 'parallel_tool_calls', messages: 'tool_choice.disable_parallel_tool_use' },
  reasoning: { responses: 'reasoning', messages: 'thinking' },
  outputFormat: { responses: 'text.format', messages: 'output_config.format', chat: 'response_format' },
  verbosity: { responses: 'text.verbosity', chat: 'verbosity' },
  modalities: { responses: 'modalities' },
  imageConfig: { responses: 'image_config' },
  cache: { responses: 'cache_control' },
  promptCacheKey: { responses: 'prompt_cache_key' },
  promptCacheOptions: { responses: 'prompt_cache_options' },
  serviceTier: { responses: 'service_tier' },
  speed: { responses: 'speed' },
  metadata: { responses: 'metadata' },
  truncation: { responses: 'truncation' },
  include: { responses: 'include' },
  items: { responses: 'input', messages: 'messages', chat: 'messages' },
};

/** Losses that a report lists; of those beyond, it only says how many there are. */
const MOST_ENTRIES = 100;

/** Characters of a field's name or of a detail that a report repeats: callers may choose both as long as a body. */
const LONGEST_WORDS = 500;

/** Collects what a request loses on its way to an upstream. Ordinary renaming between formats is no entry. */
export class Report {
  readonly #entries: TranslationEntry[] = [];
  #more = 0;
  readonly #format: Format;
  readonly #places: Places;
  #told: Set<string> | undefined;
  /** What rendering made of something, and that. */
  #originals: Map<object, object> | undefined;

  constructor(request: Pick<GenerationRequest, 'format' | 'places'>) {
    this.#format = request.format;
    this.#places = request.places;
  }

  /** What is told of the losses so far: all of them, or as many as a report lists and how many more there are. */
  get entries(): readonly TranslationEntry[] {
    return this.#more === 0 ? this.#entries : [...this.#entries, moreEntries(this.#more)];
  }

  /** The caller's name of a field, with a place inside it if given: `tools[2]`. */
  name(field: RequestField, place = ''): string {
    const names = FIELD_NAMES[field];
    return `${names[this.#format] ?? names.responses}${place}`;
  }

  /** Where an item, part or tool stands in the caller's body; `member` names something inside it. */
  place(thing: object, field: RequestField, member = ''): string {
    // Nobody reads where the rest stood, and finding it costs more than all else that is done to some things.
    if (this.#isFull) return this.name(field);
    const original = this.#originals?.get(thing) ?? thing;
    return `${this.#places.of(original) ?? this.name(field)}${member === '' ? '' : `.${member}`}`;
  }

  /** Says that `made` goes out in the place of `original`, where reports look for it; returns it. */
  standIn<T extends object>(made: T, original: object): T {
    this.#originals ??= new Map();
    this.#originals.set(made, original);
    return made;
  }

  dropped(field: string, detail: string): void {
    this.#add({ field, action: 'dropped', detail });
  }

  coerced(field: string, detail: string): void {
    this.#add({ field, action: 'coerced', detail });
  }

  renamed(field: string, detail: string): void {
    this.#add({ field, action: 'renamed', detail });
  }

  get #isFull(): boolean {
    return this.#entries.length >= MOST_ENTRIES;
  }

  /** The same loss is told once. Those that are only counted are not compared. */
  #add({ field, action, detail }: TranslationEntry): void {
    if (this.#isFull) {
      this.#more++;
      return;
    }
    const key = `${action} ${field} ${detail}`;
    this.#told ??= new Set();
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#entries.push({ field: shortened(field), action, detail: shortened(detail) });
  }
}

/** The last entry of a report that does not list everything. */
function moreEntries(count: number): TranslationEntry {
  return { field: '...', action: 'dropped', detail: `${count} more losses or changes are not listed` };
}

function shortened(words: string): string {
  return words.length <= LONGEST_WORDS ? words : `${words.slice(0, LONGEST_WORDS)}...`;
}
