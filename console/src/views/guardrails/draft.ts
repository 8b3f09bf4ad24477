import type { GuardrailObject, UpdateGuardrail } from '../../../../src/contract/guardrails/guardrail.ts';
import { parseMoney, typedMoney } from '../../format/money-input.ts';
import { type RefusedMember, sentence } from '../../parts/form/issues.ts';

/** What happens to a match; `off` = the filter is not there. */
export type DraftAction = 'off' | 'flag' | 'redact' | 'block';

type Builtins = NonNullable<GuardrailObject['content_filter_builtins']>;
export type BuiltinSlug = Builtins[number]['slug'];

/** Filters that the gateway brings along, in the order of the editor: what each finds, and how. */
export const BUILTINS: readonly (readonly [slug: BuiltinSlug, title: string, how: string])[] = [
  ['regex-prompt-injection', 'Prompt injection', 'patterns'],
  ['email', 'Email address', 'pattern'],
  ['phone', 'Phone number', 'pattern'],
  ['credit-card', 'Credit card', 'pattern, Luhn check'],
  ['ssn', 'Social Security number', 'pattern'],
  ['ip-address', 'IP address', 'pattern'],
  ['person-name', 'Person name', 'needs guardrails.presidio_url'],
  ['address', 'Postal address', 'needs guardrails.presidio_url'],
];

/** A pattern of the reader's own. `id` keeps its row while others are removed. */
export interface DraftPattern {
  readonly id: number;
  readonly pattern: string;
  readonly label: string;
  readonly action: Exclude<DraftAction, 'off'>;
}

/** A rule that may be left to other guardrails. */
export type Tristate = 'unset' | 'yes' | 'no';

/** Families of models whose retention is ruled on its own, as the interface names them. */
export const FAMILIES = [
  ['anthropic', 'Anthropic'],
  ['openai', 'OpenAI'],
  ['google', 'Google'],
  ['xai', 'xAI'],
  ['other', 'All others'],
] as const;
export type Family = (typeof FAMILIES)[number][0];

/** Regions of endpoints. */
export const REGIONS = [
  ['global', 'Bound to no region'],
  ['europe', 'Europe'],
  ['us', 'United States'],
] as const;
export type Region = (typeof REGIONS)[number][0];

/** A guardrail as the editor holds it: amounts and numbers as text while they are typed. */
export interface Draft {
  readonly name: string;
  readonly description: string;
  readonly builtins: Readonly<Record<BuiltinSlug, DraftAction>>;
  readonly scanScope: 'user_only' | 'all_messages';
  readonly patterns: readonly DraftPattern[];
  readonly allowedProviders: readonly string[];
  readonly ignoredProviders: readonly string[];
  readonly allowedModels: readonly string[];
  readonly ignoredModels: readonly string[];
  /** Whether only endpoints that retain nothing may serve. */
  readonly zeroRetention: Readonly<Record<Family, Tristate>>;
  readonly paidTraining: Tristate;
  readonly freeTraining: Tristate;
  readonly freePublication: Tristate;
  /** None = every region. */
  readonly regions: readonly Region[];
  /** Empty = no service; then the members below do not count. */
  readonly serviceUrl: string;
  readonly serviceTimeoutMs: string;
  readonly serviceRetries: string;
  readonly serviceOnFailure: 'closed' | 'open';
  /** Empty = the whole answer at once. */
  readonly serviceWindow: string;
  readonly limit: string;
  readonly reset: '' | 'daily' | 'weekly' | 'monthly';
  readonly countsByok: boolean;
}

let lastPattern = 0;

export function newPattern(): DraftPattern {
  return { id: ++lastPattern, pattern: '', label: '', action: 'redact' };
}

/** The draft of a stored guardrail; undefined = of one that is not there yet. */
export function draftOf(stored: GuardrailObject | undefined): Draft {
  const builtins = stored?.content_filter_builtins ?? [];
  const actionOf = (slug: BuiltinSlug) => builtins.find((each) => each.slug === slug)?.action ?? 'off';
  const service = stored?.service ?? SERVICE_DEFAULTS;
  return {
    name: stored?.name ?? '',
    description: stored?.description ?? '',
    builtins: Object.fromEntries(BUILTINS.map(([slug]) => [slug, actionOf(slug)])) as Draft['builtins'],
    scanScope: builtins.find(({ slug }) => slug === 'regex-prompt-injection')?.scan_scope ?? 'all_messages',
    patterns: (stored?.content_filters ?? []).map(({ pattern, label, action }) => ({
      id: ++lastPattern,
      pattern,
      label: label ?? '',
      action,
    })),
    allowedProviders: stored?.allowed_providers ?? [],
    ignoredProviders: stored?.ignored_providers ?? [],
    allowedModels: stored?.allowed_models ?? [],
    ignoredModels: stored?.ignored_models ?? [],
    zeroRetention: Object.fromEntries(
      FAMILIES.map(([family]) => [family, wordOf(stored?.[`enforce_zdr_${family}`])]),
    ) as Draft['zeroRetention'],
    paidTraining: wordOf(stored?.enable_paid_model_training),
    freeTraining: wordOf(stored?.enable_free_model_training),
    freePublication: wordOf(stored?.enable_free_model_publication),
    regions: stored?.allowed_data_regions ?? [],
    serviceUrl: service.url,
    serviceTimeoutMs: String(service.timeout_ms),
    serviceRetries: String(service.retries),
    serviceOnFailure: service.on_failure,
    serviceWindow: service.window_characters === null ? '' : String(service.window_characters),
    limit: typedMoney(stored?.limit_usd ?? null),
    reset: stored?.reset_interval ?? '',
    countsByok: stored?.include_byok_in_budgets ?? false,
  };
}

/** A service as the gateway takes one without further members. */
const SERVICE_DEFAULTS: NonNullable<GuardrailObject['service']> = {
  url: '',
  timeout_ms: 2_000,
  retries: 1,
  on_failure: 'closed',
  window_characters: null,
};

function wordOf(value: boolean | null | undefined): Tristate {
  if (value === null || value === undefined) return 'unset';
  return value ? 'yes' : 'no';
}

const TRUTHS = { unset: null, yes: true, no: false } as const;

const WHOLE = /^\d+$/;

/** Problems by field; a pattern and a built-in filter have one of their own. */
export type DraftProblems = Partial<
  Record<keyof Draft | `pattern ${number}` | `builtin ${BuiltinSlug}`, string>
>;

/** What is wrong with a draft before it is sent, by field. */
export function problemsOf(draft: Draft): DraftProblems {
  return {
    ...(draft.name.trim() === '' && { name: 'Give it a name.' }),
    ...(draft.limit.trim() !== '' &&
      parseMoney(draft.limit) === undefined && { limit: 'An amount of dollars, such as 25 or 0.50.' }),
    ...Object.fromEntries(
      draft.patterns
        .filter(({ pattern }) => pattern === '')
        .map(({ id }) => [`pattern ${id}`, 'Write a pattern, or remove the row.']),
    ),
    ...(draft.serviceUrl.trim() !== '' && serviceProblems(draft)),
  };
}

function serviceProblems(draft: Draft): DraftProblems {
  const { serviceUrl, serviceTimeoutMs, serviceRetries, serviceWindow } = draft;
  return {
    ...(!/^https?:\/\/\S+$/.test(serviceUrl.trim()) && { serviceUrl: 'An http or https address.' }),
    ...(!WHOLE.test(serviceTimeoutMs.trim()) && { serviceTimeoutMs: 'Milliseconds, such as 2000.' }),
    ...(!WHOLE.test(serviceRetries.trim()) && { serviceRetries: 'A number, such as 1.' }),
    ...(!WHOLE.test(serviceWindow.trim() || '0') && {
      serviceWindow: 'A number of characters, or nothing.',
    }),
  };
}

/** Fields by the member of a body, or the part of one, that they are sent as. */
const FIELDS: Readonly<Record<string, keyof Draft>> = {
  name: 'name',
  description: 'description',
  allowed_providers: 'allowedProviders',
  ignored_providers: 'ignoredProviders',
  allowed_models: 'allowedModels',
  ignored_models: 'ignoredModels',
  limit_usd: 'limit',
  reset_interval: 'reset',
  'service.url': 'serviceUrl',
  'service.timeout_ms': 'serviceTimeoutMs',
  'service.retries': 'serviceRetries',
  'service.on_failure': 'serviceOnFailure',
  'service.window_characters': 'serviceWindow',
};

/** What the gateway refused of a draft, at its fields; undefined if one of the issues belongs to no field. */
export function refusedFields(refused: readonly RefusedMember[], draft: Draft): DraftProblems | undefined {
  const fields = refused.map(({ path, message }) => [refusedField(path, draft), sentence(message)] as const);
  if (fields.length === 0 || fields.some(([field]) => field === undefined)) return undefined;
  // Of several issues of a field the first counts.
  return Object.fromEntries(fields.toReversed()) as DraftProblems;
}

/** Problems that a change leaves: those of its fields are gone. */
export function withoutChanged(problems: DraftProblems, draft: Draft, part: Partial<Draft>): DraftProblems {
  const isSame = (name: string): boolean => {
    const [kind, place = ''] = name.split(' ');
    const patternIn = ({ patterns = draft.patterns }: Partial<Draft>) =>
      patterns.find(({ id }) => String(id) === place)?.pattern;
    const actionIn = ({ builtins = draft.builtins }: Partial<Draft>) => builtins[place as BuiltinSlug];
    if (kind === 'pattern') return patternIn(part) === patternIn(draft);
    if (kind === 'builtin') return actionIn(part) === actionIn(draft);
    return !(name in part);
  };
  return Object.fromEntries(Object.entries(problems).filter(([name]) => isSame(name))) as DraftProblems;
}

function refusedField(path: string, draft: Draft): keyof DraftProblems | undefined {
  const [, member = '', place = ''] = /^([\w.]+)(?:\[(\d+)\])?/.exec(path) ?? [];
  if (member === 'content_filters') {
    const pattern = draft.patterns[Number(place)];
    return pattern && `pattern ${pattern.id}`;
  }
  if (member === 'content_filter_builtins') {
    const builtin = bodyOf(draft).content_filter_builtins?.[Number(place)];
    return builtin && `builtin ${builtin.slug}`;
  }
  return FIELDS[member];
}

/** The members that judge texts, for a trial before they are saved. */
export function filtersOf(
  draft: Draft,
): Pick<UpdateGuardrail, 'content_filter_builtins' | 'content_filters' | 'service'> {
  const { content_filter_builtins, content_filters, service } = bodyOf({
    ...draft,
    patterns: draft.patterns.filter(({ pattern }) => pattern !== ''),
  });
  return {
    content_filter_builtins,
    content_filters,
    ...(Object.keys(serviceProblems(draft)).length === 0 || draft.serviceUrl.trim() === ''
      ? { service }
      : { service: null }),
  };
}

/** Whether a change concerns members that judge texts. */
export function hasChangedFilters(changes: UpdateGuardrail): boolean {
  return ['content_filter_builtins', 'content_filters', 'service'].some((member) => member in changes);
}

/** The members of a request for a draft. */
function bodyOf(draft: Draft) {
  const builtins = BUILTINS.flatMap(([slug]) => {
    const action = draft.builtins[slug];
    if (action === 'off') return [];
    return [{ slug, action, ...(slug === 'regex-prompt-injection' && { scan_scope: draft.scanScope }) }];
  });
  const patterns = draft.patterns.map(({ pattern, label, action }) => ({
    pattern,
    action,
    label: label.trim() === '' ? null : label.trim(),
  }));
  return {
    name: draft.name.trim(),
    description: draft.description.trim() === '' ? null : draft.description.trim(),
    content_filter_builtins: builtins.length === 0 ? null : builtins,
    content_filters: patterns.length === 0 ? null : patterns,
    allowed_providers: listOf(draft.allowedProviders),
    ignored_providers: listOf(draft.ignoredProviders),
    allowed_models: listOf(draft.allowedModels),
    ignored_models: listOf(draft.ignoredModels),
    ...Object.fromEntries(
      FAMILIES.map(([family]) => [`enforce_zdr_${family}`, TRUTHS[draft.zeroRetention[family]]]),
    ),
    enable_paid_model_training: TRUTHS[draft.paidTraining],
    enable_free_model_training: TRUTHS[draft.freeTraining],
    enable_free_model_publication: TRUTHS[draft.freePublication],
    allowed_data_regions: draft.regions.length === 0 ? null : [...draft.regions],
    service: serviceOf(draft),
    limit_usd: draft.limit.trim() === '' ? null : (parseMoney(draft.limit) ?? null),
    reset_interval: draft.reset === '' ? null : draft.reset,
    include_byok_in_budgets: draft.countsByok,
  } satisfies UpdateGuardrail;
}

function serviceOf(draft: Draft): Exclude<UpdateGuardrail['service'], undefined> {
  const url = draft.serviceUrl.trim();
  if (url === '') return null;
  const window = draft.serviceWindow.trim();
  return {
    url,
    timeout_ms: Number(draft.serviceTimeoutMs),
    retries: Number(draft.serviceRetries),
    on_failure: draft.serviceOnFailure,
    window_characters: window === '' ? null : Number(window),
  };
}

function listOf(names: readonly string[]): string[] | null {
  return names.length === 0 ? null : [...names];
}

/** The members that differ between two drafts: what a change sends. */
export function changesOf(draft: Draft, stored: Draft): UpdateGuardrail {
  const before = bodyOf(stored) as Record<string, unknown>;
  const changed = Object.entries(bodyOf(draft)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  return Object.fromEntries(changed) as UpdateGuardrail;
}
