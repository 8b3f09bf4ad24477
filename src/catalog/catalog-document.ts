import Type from 'typebox';
import {
  datedPrices,
  endpointTag,
  inputModalities,
  modelId,
  outputModalities,
  parameterNames,
  pricing,
  providerSlug,
  quality,
  quantization,
  tokens,
} from '../config/catalog-members.ts';
import { momentMs } from '../config/moment.ts';
import { closed } from '../kit/schema.ts';
import { compileValidator, type Issue } from '../kit/validate.ts';
import type { DatedPricingEntry, EndpointEntry, ModelEntry, PricingEntry } from './entries.ts';
import { PARAMETER_NAMES } from './parameter-names.ts';
import { rowOf } from './provider-rows.ts';

/** What is known about models, as data that ship with the gateway or that an operator brings in. */
export interface CatalogDocument {
  /** The day on which this was true, and where it is from: of every entry that does not say so itself. */
  readonly as_of: string;
  readonly source: string;
  readonly models: readonly DocumentModel[];
}

export interface DocumentModel extends ModelEntry, Partial<Provenance> {
  readonly endpoints?: readonly DocumentEndpoint[];
}

export interface DocumentEndpoint extends EndpointEntry, Partial<Provenance> {
  readonly tag: string;
}

/** Where a fact is from, and of which day it is. */
export interface Provenance {
  readonly as_of: string;
  readonly source: string;
}

/** What is wrong with a document: this many things are told. */
const MAX_ISSUES = 50;

const DAY_MS = 86_400_000;

const day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', explain: 'must be a day such as 2026-05-01' });
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[^\\p{Cc}]*$' });
const provenance = { as_of: Type.Optional(day), source: Type.Optional(text(300)) };

const endpoint = closed({
  provider: providerSlug,
  model: text(512),
  tag: endpointTag,
  quantization: Type.Optional(quantization),
  context_length: Type.Optional(tokens),
  max_output_tokens: Type.Optional(tokens),
  input_modalities: Type.Optional(inputModalities),
  supported_parameters: Type.Optional(parameterNames),
  implicit_caching: Type.Optional(Type.Boolean()),
  pricing,
  prices: Type.Optional(datedPrices),
  ...provenance,
});

const model = closed({
  id: modelId,
  canonical_slug: Type.Optional(modelId),
  name: Type.Optional(text(200)),
  description: Type.Optional(text(2000)),
  created: Type.Optional(day),
  hugging_face_id: Type.Optional(text(200)),
  home: Type.Optional(providerSlug),
  context_length: Type.Optional(tokens),
  max_output_tokens: Type.Optional(tokens),
  input_modalities: Type.Optional(inputModalities),
  output_modalities: Type.Optional(outputModalities),
  aliases: Type.Optional(Type.Array(modelId, { maxItems: 64 })),
  quality: Type.Optional(quality),
  distillable: Type.Optional(Type.Boolean()),
  endpoints: Type.Optional(Type.Array(endpoint, { maxItems: 256 })),
  ...provenance,
});

/** The form of the data. */
export const catalogDocumentSchema = closed({
  as_of: day,
  source: text(300),
  models: Type.Array(model, { maxItems: 20_000 }),
});

const validator = compileValidator(catalogDocumentSchema);

/** Everything that is wrong with data that somebody brings in; when there is nothing, they are a CatalogDocument. */
export function documentIssues(value: unknown, nowMs: number): readonly Issue[] {
  const issues = validator.issuesOf(value);
  if (issues.length > 0) return issues.slice(0, MAX_ISSUES);
  const found: Issue[] = [];
  for (const issue of crossChecks(value as CatalogDocument, nowMs)) {
    found.push(issue);
    if (found.length >= MAX_ISSUES) break;
  }
  return found;
}

/** What the schema cannot say. */
function* crossChecks(document: CatalogDocument, nowMs: number): Generator<Issue> {
  const names = new Map<string, string>();
  yield* dayChecks(document, '', nowMs);
  for (const [index, { id }] of document.models.entries()) yield* unique(names, id, `models[${index}].id`);
  for (const [index, entry] of document.models.entries()) {
    const path = `models[${index}]`;
    yield* dayChecks(entry, `${path}.`, nowMs);
    if (entry.created && momentMs(entry.created) === undefined) {
      yield { path: `${path}.created`, message: 'is not in the calendar' };
    }
    if (entry.home) yield* knownProvider(entry.home, `${path}.home`);
    for (const [at, alias] of (entry.aliases ?? []).entries()) {
      yield* unique(names, alias, `${path}.aliases[${at}]`);
    }
    const tags = new Map<string, string>();
    for (const [at, way] of (entry.endpoints ?? []).entries()) {
      yield* unique(tags, way.tag, `${path}.endpoints[${at}].tag`);
      yield* endpointChecks(way, `${path}.endpoints[${at}]`, nowMs);
    }
  }
}

function* endpointChecks(entry: DocumentEndpoint, path: string, nowMs: number): Generator<Issue> {
  yield* knownProvider(entry.provider, `${path}.provider`);
  yield* dayChecks(entry, `${path}.`, nowMs);
  if (entry.tag.split('/')[0] !== entry.provider) {
    yield { path: `${path}.tag`, message: 'must begin with the slug of the provider' };
  }
  for (const [index, name] of (entry.supported_parameters ?? []).entries()) {
    if (!PARAMETER_NAMES.includes(name)) {
      yield {
        path: `${path}.supported_parameters[${index}]`,
        message: 'is not the name of a parameter',
      };
    }
  }
  yield* priceChecks(entry.pricing ?? {}, `${path}.pricing`);
  yield* historyChecks(entry.prices ?? [], `${path}.prices`);
}

/** An absent price is nothing to pay: data that mean it say so. */
function* priceChecks(pricing: PricingEntry, path: string): Generator<Issue> {
  for (const name of ['prompt', 'completion']) {
    if (typeof pricing[name] !== 'string') yield { path: `${path}.${name}`, message: 'is required' };
  }
}

function* historyChecks(prices: readonly DatedPricingEntry[], path: string): Generator<Issue> {
  let last = Number.NEGATIVE_INFINITY;
  for (const [index, { from, pricing }] of prices.entries()) {
    yield* priceChecks(pricing, `${path}[${index}].pricing`);
    const begins = momentMs(from);
    if (begins === undefined) yield { path: `${path}[${index}].from`, message: 'is not in the calendar' };
    else if (begins <= last)
      yield { path: `${path}[${index}].from`, message: 'must come after the one before it' };
    last = begins ?? last;
  }
}

/** Somewhere on earth it is tomorrow already; later than that nobody can have looked. */
function* dayChecks({ as_of: day }: { as_of?: string }, prefix: string, nowMs: number): Generator<Issue> {
  if (day === undefined) return;
  const milliseconds = momentMs(day);
  if (milliseconds === undefined) yield { path: `${prefix}as_of`, message: 'is not in the calendar' };
  else if (milliseconds > nowMs + DAY_MS)
    yield { path: `${prefix}as_of`, message: 'is a day that has not come yet' };
}

function* knownProvider(slug: string, path: string): Generator<Issue> {
  if (rowOf(slug) === undefined) yield { path, message: 'is not in the table of providers' };
}

function* unique(firstAt: Map<string, string>, name: string, path: string): Generator<Issue> {
  const first = firstAt.get(name);
  if (first === undefined) firstAt.set(name, path);
  else yield { path, message: `is already used at ${first}` };
}
