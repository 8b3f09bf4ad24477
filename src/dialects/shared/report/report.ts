import type { FormatFacts } from '../../../ir/format-facts.ts';
import type { TranslationEntry } from '../../../ir/metadata.ts';
import type { Places } from '../../../ir/places.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { RequestField } from '../../../ir/settings.ts';

/** Names of request fields in the responses format. Other formats say which of theirs differ. */
const FIELD_NAMES: Readonly<Record<RequestField, string>> = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  topA: 'top_a',
  minP: 'min_p',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  repetitionPenalty: 'repetition_penalty',
  seed: 'seed',
  stop: 'stop',
  logitBias: 'logit_bias',
  logprobs: 'logprobs',
  topLogprobs: 'top_logprobs',
  requestedOutputTokens: 'max_output_tokens',
  tools: 'tools',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  reasoning: 'reasoning',
  outputFormat: 'text.format',
  verbosity: 'text.verbosity',
  modalities: 'modalities',
  imageConfig: 'image_config',
  cache: 'cache_control',
  promptCacheKey: 'prompt_cache_key',
  promptCacheOptions: 'prompt_cache_options',
  serviceTier: 'service_tier',
  speed: 'speed',
  metadata: 'metadata',
  truncation: 'truncation',
  include: 'include',
  items: 'input',
};

/** Losses that a report lists; of those beyond, it only says how many there are. */
const MOST_ENTRIES = 100;

/** Characters of a field's name or of a detail that a report repeats: callers may choose both as long as a body. */
const LONGEST_WORDS = 500;

/** Collects what a request loses on its way to an upstream. Ordinary renaming between formats is no entry. */
export class Report {
  readonly #entries: TranslationEntry[] = [];
  #more = 0;
  /** Of the format that the request came in. */
  readonly facts: FormatFacts;
  readonly #places: Places;
  #told: Set<string> | undefined;
  /** What rendering made of something, and that. */
  #originals: Map<object, object> | undefined;

  constructor(request: Pick<GenerationRequest, 'formatFacts' | 'places'>) {
    this.facts = request.formatFacts;
    this.#places = request.places;
  }

  /** What is told of the losses so far: all of them, or as many as a report lists and how many more there are. */
  get entries(): readonly TranslationEntry[] {
    return this.#more === 0 ? this.#entries : [...this.#entries, moreEntries(this.#more)];
  }

  /** The caller's name of a field, with a place inside it if given: `tools[2]`. */
  name(field: RequestField, place = ''): string {
    return `${this.facts.fieldNames[field] ?? FIELD_NAMES[field]}${place}`;
  }

  /** Where an item, part or tool stands in the caller's body; `member` names something inside it. */
  place(thing: object, field: RequestField, member = ''): string {
    // Entries beyond the limit are only counted, and looking up a path costs more than rendering the item.
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
