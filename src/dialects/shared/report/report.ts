import { type ConversationForm, conversationForm, type FormatFacts } from '../../../ir/format-facts.ts';
import type { TranslationEntry } from '../../../ir/metadata.ts';
import type { Places } from '../../../ir/places.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { RequestField } from '../../../ir/settings.ts';
import { countText } from '../../../kit/text/count-text.ts';

/** Names of request fields in the responses format. Other formats list their differences. */
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
  imageConfig: 'image_config',
  promptCacheKey: 'prompt_cache_key',
  promptCacheOptions: 'prompt_cache_options',
  metadata: 'metadata',
  modalities: 'modalities',
  cache: 'cache_control',
  serviceTier: 'service_tier',
  speed: 'speed',
  truncation: 'truncation',
  include: 'include',
  items: 'input',
};

/** All request fields, in the order in which reports list them. */
export const REQUEST_FIELDS = Object.keys(FIELD_NAMES) as readonly RequestField[];

export function fieldName(field: RequestField, { fieldNames }: FormatFacts): string {
  return fieldNames[field] ?? FIELD_NAMES[field];
}

/** Entries that a report lists; the rest is only counted. */
const MAX_LISTED_ENTRIES = 100;

/** Callers may choose names of fields, and so details, as long as a body: reports cut both. */
const MAX_TEXT_CHARACTERS = 500;

/**
 * Collects the losses of a request on its way to an upstream, and fields that are sent unknown. Ordinary renaming
 * between formats is no entry.
 */
export class Report {
  readonly #entries: TranslationEntry[] = [];
  #more = 0;
  readonly #facts: FormatFacts;
  readonly #places: Places;
  /** Keys of the entries, to find equal ones. */
  #keys: Set<string> | undefined;
  /** Originals by the object that is sent instead. */
  #originals: Map<object, object> | undefined;

  constructor(request: Pick<GenerationRequest, 'formatFacts' | 'places'>) {
    this.#facts = request.formatFacts;
    this.#places = request.places;
  }

  /** Facts of the request's format about conversations; only for requests that have one. */
  get form(): ConversationForm {
    return conversationForm(this.#facts);
  }

  /** The entries so far; beyond the limit, a last one says how many more there are. */
  get entries(): readonly TranslationEntry[] {
    return this.#more === 0 ? this.#entries : [...this.#entries, moreEntries(this.#more)];
  }

  /** The caller's name of a field, with a place inside it if given: `tools[2]`. */
  name(field: RequestField, place = ''): string {
    return `${fieldName(field, this.#facts)}${place}`;
  }

  /** Path of an item, part or tool in the caller's body; `member` names something inside it. */
  place(thing: object, field: RequestField, member = ''): string {
    // Entries beyond the limit are only counted, and looking up a path costs more than rendering the item.
    if (this.isFull) return this.name(field);
    const original = this.#originals?.get(thing) ?? thing;
    return `${this.#places.of(original) ?? this.name(field)}${member === '' ? '' : `.${member}`}`;
  }

  /** Notes that `made` is sent instead of `original`, so that reports use the original's place; returns `made`. */
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

  passedOn(field: string, detail: string): void {
    this.#add({ field, action: 'passed_on', detail });
  }

  ignored(field: string, detail: string): void {
    this.#add({ field, action: 'ignored', detail });
  }

  get isFull(): boolean {
    return this.#entries.length >= MAX_LISTED_ENTRIES;
  }

  /** Equal entries are listed once. Entries beyond the limit are counted without comparing them. */
  #add({ field, action, detail }: TranslationEntry): void {
    if (this.isFull) {
      this.#more++;
      return;
    }
    const key = `${action} ${field} ${detail}`;
    this.#keys ??= new Set();
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#entries.push({ field: shortened(field), action, detail: shortened(detail) });
  }
}

/** The last entry of a report that does not list everything. */
function moreEntries(count: number): TranslationEntry {
  return {
    field: '...',
    action: 'dropped',
    detail: `${countText(count, 'more loss or change is', 'more losses or changes are')} not listed`,
  };
}

function shortened(text: string): string {
  return text.length <= MAX_TEXT_CHARACTERS ? text : `${text.slice(0, MAX_TEXT_CHARACTERS)}...`;
}
