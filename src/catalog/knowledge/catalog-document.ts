import Type, { type TSchema } from 'typebox';
import { shownName } from '../../config/parse/shown-text.ts';
import {
  day,
  dayOrMonth,
  endpointTag,
  inputModalities,
  modelId,
  moment,
  outputModalities,
  parameterNames,
  pricing,
  providerSlug,
  quality,
  quantization,
  reasoning,
  tokens,
} from '../../config/schema/catalog-members.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import { closed } from '../../kit/json/schema.ts';
import { compileValidator, type Issue, type Validator } from '../../kit/json/validate.ts';
import { forEachSliced, type Sliced } from '../../kit/loop/turns.ts';
import { momentMs } from '../../kit/time/moment.ts';
import type { DatedPricingEntry, EndpointEntry, ModelEntry, PricingEntry } from '../entries.ts';
import { EMBEDDING_PARAMETER_NAMES, PARAMETER_NAMES } from '../parameter-names.ts';
import { rowOf } from '../providers/provider-rows.ts';
import { SIMULATOR_MODELS, SIMULATOR_PROVIDER } from '../simulator-catalog.ts';

/** A file of data about models: shipped, or imported with `catalog refresh`. */
export interface CatalogDocument {
  /** Day and origin of the data, for entries without their own. */
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

export interface Provenance {
  readonly as_of: string;
  readonly source: string;
}

/** Problems reported; further ones are dropped. */
const MAX_ISSUES = 50;

const DAY_MS = 86_400_000;

const BUILT_IN = 'the simulator is built in: data cannot change it';
const SIMULATOR_IDS: ReadonlySet<string> = new Set(SIMULATOR_MODELS.map(({ id }) => id));

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[^\\p{Cc}]*$' });
const provenance = { as_of: Type.Optional(day), source: Type.Optional(text(300)) };

/** Limits of lists; absent = unlimited. */
interface ListLimits {
  readonly models?: number;
  readonly endpoints?: number;
  readonly prices?: number;
}

/** Validators of a document: of all but its models, and of each model, so that models are checked in slices. */
interface DocumentValidators {
  readonly frame: Validator;
  readonly model: Validator;
}

const IMPORTED = validatorsOf({ models: 20_000, endpoints: 256, prices: 256 });

/** For stored data, which accumulate all imports. */
const STORED = validatorsOf({});

function validatorsOf(most: ListLimits): DocumentValidators {
  return {
    frame: compileValidator(
      closed({ as_of: day, source: text(300), models: listOf(Type.Unknown(), most.models) }),
    ),
    model: compileValidator(modelSchema(most)),
  };
}

function listOf<Member extends TSchema>(member: Member, maxItems?: number) {
  return Type.Array(member, maxItems === undefined ? {} : { maxItems });
}

function endpointSchema({ prices }: ListLimits) {
  return closed({
    provider: providerSlug,
    model: text(512),
    tag: endpointTag,
    quantization: Type.Optional(quantization),
    context_length: Type.Optional(tokens),
    max_output_tokens: Type.Optional(tokens),
    max_inputs: Type.Optional(tokens),
    input_modalities: Type.Optional(inputModalities),
    supported_parameters: Type.Optional(parameterNames),
    implicit_caching: Type.Optional(Type.Boolean()),
    pricing,
    prices: Type.Optional(listOf(closed({ from: moment, pricing, told: Type.Optional(day) }), prices)),
    ...provenance,
  });
}

function modelSchema(most: ListLimits) {
  return closed({
    id: modelId,
    canonical_slug: Type.Optional(modelId),
    name: Type.Optional(text(200)),
    description: Type.Optional(text(2000)),
    created: Type.Optional(day),
    knowledge_cutoff: Type.Optional(dayOrMonth),
    hugging_face_id: Type.Optional(text(200)),
    home: Type.Optional(providerSlug),
    context_length: Type.Optional(tokens),
    max_output_tokens: Type.Optional(tokens),
    input_modalities: Type.Optional(inputModalities),
    output_modalities: Type.Optional(outputModalities),
    aliases: Type.Optional(Type.Array(modelId, { maxItems: 64 })),
    quality: Type.Optional(quality),
    reasoning: Type.Optional(reasoning),
    distillable: Type.Optional(Type.Boolean()),
    endpoints: Type.Optional(listOf(endpointSchema(most), most.endpoints)),
    ...provenance,
  });
}

/** All problems of imported data; if there are none, the value is a CatalogDocument. */
export function* documentIssues(value: unknown, nowMs: number): Sliced<readonly Issue[]> {
  const issues = [...(yield* schemaIssues(IMPORTED, value)), ...(yield* eachModel(value, providerChecks))];
  if (issues.length > 0) return issues.slice(0, MAX_ISSUES);
  const document = value as CatalogDocument;
  const names = new Map<string, string>();
  return [
    ...dayChecks(document, '', nowMs),
    ...(yield* eachModel(value, idChecks(names))),
    ...(yield* eachModel(value, aliasChecks(names))),
    ...(yield* eachModel(value, modelChecks(nowMs))),
  ].slice(0, MAX_ISSUES);
}

/**
 * All problems of stored data. They may have any length, future days (clocks are set back), providers that have left
 * the table, and an alias that two models got at different times.
 */
export function* storedIssues(value: unknown): Sliced<readonly Issue[]> {
  const issues = yield* schemaIssues(STORED, value);
  if (issues.length > 0) return issues;
  return [
    ...dayChecks(value as CatalogDocument, '', Number.POSITIVE_INFINITY),
    ...(yield* eachModel(value, idChecks(new Map()))),
    ...(yield* eachModel(value, modelChecks(Number.POSITIVE_INFINITY))),
  ];
}

function* schemaIssues({ frame, model }: DocumentValidators, value: unknown): Sliced<readonly Issue[]> {
  const issues = frame.issuesOf(value);
  // A list that is missing or too long is not examined further.
  if (issues.some(({ path }) => path === 'models')) return issues;
  const ofModels = yield* eachModel(value, (entry, path) =>
    model.issuesOf(entry).map((issue) => ({ ...issue, path: under(path, issue.path) })),
  );
  return [...issues, ...ofModels];
}

function under(path: string, inner: string): string {
  return inner === '' || inner.startsWith('[') ? `${path}${inner}` : `${path}.${inner}`;
}

/** Runs a check on each model, up to MAX_ISSUES problems. */
function* eachModel<Entry = DocumentModel>(
  value: unknown,
  check: (entry: Entry, path: string) => Iterable<Issue>,
): Sliced<Issue[]> {
  const found: Issue[] = [];
  yield* forEachSliced(membersOf(value, 'models') as readonly Entry[], (entry, index) => {
    if (found.length < MAX_ISSUES) found.push(...check(entry, `models[${index}]`));
  });
  return found;
}

/** Unknown providers. Runs together with the schema check, so the entry may have any shape. */
function* providerChecks(entry: unknown, path: string): Generator<Issue> {
  yield* knownProvider(memberOf(entry, 'home'), `${path}.home`);
  for (const [at, way] of membersOf(entry, 'endpoints').entries()) {
    yield* knownProvider(memberOf(way, 'provider'), `${path}.endpoints[${at}].provider`);
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}

function membersOf(value: unknown, name: string): readonly unknown[] {
  const members = memberOf(value, name);
  return Array.isArray(members) ? members : [];
}

// --- Checks beyond the schema
// ------------------------------------------------------------------------------------------

type ModelChecks = (entry: DocumentModel, path: string) => Generator<Issue>;

function idChecks(names: Map<string, string>): ModelChecks {
  return function* ({ id }, path) {
    yield* unique(names, id, `${path}.id`);
    yield* notBuiltIn(id, `${path}.id`);
  };
}

function aliasChecks(names: Map<string, string>): ModelChecks {
  return function* ({ aliases }, path) {
    for (const [at, alias] of (aliases ?? []).entries()) {
      yield* unique(names, alias, `${path}.aliases[${at}]`);
      yield* notBuiltIn(alias, `${path}.aliases[${at}]`);
    }
  };
}

function modelChecks(nowMs: number): ModelChecks {
  return function* (entry, path) {
    yield* dayChecks(entry, `${path}.`, nowMs);
    for (const name of ['created', 'knowledge_cutoff'] as const) {
      if (entry[name] && momentMs(entry[name]) === undefined) {
        yield { path: `${path}.${name}`, message: 'is not in the calendar' };
      }
    }
    const tags = new Map<string, string>();
    for (const [at, way] of (entry.endpoints ?? []).entries()) {
      yield* unique(tags, way.tag, `${path}.endpoints[${at}].tag`);
      yield* endpointChecks(way, `${path}.endpoints[${at}]`, nowMs);
    }
  };
}

function* endpointChecks(entry: DocumentEndpoint, path: string, nowMs: number): Generator<Issue> {
  yield* dayChecks(entry, `${path}.`, nowMs);
  if (entry.tag.split('/')[0] !== entry.provider) {
    yield { path: `${path}.tag`, message: 'must begin with the slug of the provider' };
  }
  for (const [index, name] of (entry.supported_parameters ?? []).entries()) {
    if (!PARAMETER_NAMES.includes(name) && !EMBEDDING_PARAMETER_NAMES.includes(name)) {
      yield {
        path: `${path}.supported_parameters[${index}]`,
        message: 'is not the name of a parameter',
      };
    }
  }
  yield* priceChecks(entry.pricing ?? {}, `${path}.pricing`);
  yield* historyChecks(entry.prices ?? [], `${path}.prices`);
}

/** Prices of tokens are required: an absent one would mean free. */
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

/** Tomorrow is accepted, because of time zones; a later day is not. */
function* dayChecks({ as_of: day }: { as_of?: string }, prefix: string, nowMs: number): Generator<Issue> {
  if (day === undefined) return;
  const milliseconds = momentMs(day);
  if (milliseconds === undefined) yield { path: `${prefix}as_of`, message: 'is not in the calendar' };
  else if (milliseconds > nowMs + DAY_MS)
    yield { path: `${prefix}as_of`, message: 'is a day that has not come yet' };
}

function* knownProvider(slug: unknown, path: string): Generator<Issue> {
  if (typeof slug !== 'string') return;
  if (slug === SIMULATOR_PROVIDER.slug) yield { path, message: BUILT_IN };
  else if (rowOf(slug) === undefined)
    yield { path, message: `"${shownName(slug)}" is not in the table of providers` };
}

/** Refuses names of the simulator's models, which the program defines. */
function* notBuiltIn(id: string, path: string): Generator<Issue> {
  if (SIMULATOR_IDS.has(id)) yield { path, message: BUILT_IN };
}

function* unique(firstAt: Map<string, string>, name: string, path: string): Generator<Issue> {
  const first = firstAt.get(name);
  if (first === undefined) firstAt.set(name, path);
  else yield { path, message: `is already used at ${first}` };
}
