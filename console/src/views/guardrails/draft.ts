import type { GuardrailObject, UpdateGuardrail } from '../../../../src/contract/guardrails/guardrail.ts';
import { parseMoney, typedMoney } from '../../format/money-input.ts';

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

/** A guardrail as the editor holds it: lists and amounts as text while they are typed. */
export interface Draft {
  readonly name: string;
  readonly description: string;
  readonly builtins: Readonly<Record<BuiltinSlug, DraftAction>>;
  readonly scanScope: 'user_only' | 'all_messages';
  readonly patterns: readonly DraftPattern[];
  readonly allowedProviders: string;
  readonly ignoredProviders: string;
  readonly allowedModels: string;
  readonly ignoredModels: string;
  /** `mixed`: the families of models differ, and stay so. */
  readonly zeroRetention: 'unset' | 'yes' | 'no' | 'mixed';
  readonly limit: string;
  readonly reset: '' | 'daily' | 'weekly' | 'monthly';
  readonly countsByok: boolean;
}

let lastPattern = 0;

export function newPattern(): DraftPattern {
  return { id: ++lastPattern, pattern: '', label: '', action: 'redact' };
}

const lines = (list: readonly string[] | null) => (list ?? []).join('\n');

/** The draft of a stored guardrail; undefined = of one that is not there yet. */
export function draftOf(stored: GuardrailObject | undefined): Draft {
  const builtins = stored?.content_filter_builtins ?? [];
  const actionOf = (slug: BuiltinSlug) => builtins.find((each) => each.slug === slug)?.action ?? 'off';
  const zdr = [
    stored?.enforce_zdr_anthropic,
    stored?.enforce_zdr_openai,
    stored?.enforce_zdr_google,
    stored?.enforce_zdr_xai,
    stored?.enforce_zdr_other,
  ].map((value) => value ?? null);
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
    allowedProviders: lines(stored?.allowed_providers ?? null),
    ignoredProviders: lines(stored?.ignored_providers ?? null),
    allowedModels: lines(stored?.allowed_models ?? null),
    ignoredModels: lines(stored?.ignored_models ?? null),
    zeroRetention: zdr.every((value) => value === zdr[0]) ? wordOf(zdr[0] ?? null) : 'mixed',
    limit: typedMoney(stored?.limit_usd ?? null),
    reset: stored?.reset_interval ?? '',
    countsByok: stored?.include_byok_in_budgets ?? false,
  };
}

function wordOf(value: boolean | null): 'unset' | 'yes' | 'no' {
  if (value === null) return 'unset';
  return value ? 'yes' : 'no';
}

/** What is wrong with a draft before it is sent, by field. */
export function problemsOf(draft: Draft): Partial<Record<'name' | 'limit' | 'patterns', string>> {
  return {
    ...(draft.name.trim() === '' && { name: 'Give it a name.' }),
    ...(draft.limit.trim() !== '' &&
      parseMoney(draft.limit) === undefined && { limit: 'An amount of dollars, such as 25 or 0.50.' }),
    ...(draft.patterns.some(({ pattern }) => pattern === '') && {
      patterns: 'Write a pattern, or remove the row.',
    }),
  };
}

/** The members of a request for a draft. */
function bodyOf(draft: Draft): UpdateGuardrail {
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
    ...(draft.zeroRetention !== 'mixed' && {
      enforce_zdr: { unset: null, yes: true, no: false }[draft.zeroRetention],
    }),
    limit_usd: draft.limit.trim() === '' ? null : (parseMoney(draft.limit) ?? null),
    reset_interval: draft.reset === '' ? null : draft.reset,
    include_byok_in_budgets: draft.countsByok,
  };
}

function listOf(text: string): string[] | null {
  const names = text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return names.length === 0 ? null : names;
}

/** The members that differ between two drafts: what a change sends. */
export function changesOf(draft: Draft, stored: Draft): UpdateGuardrail {
  const before = bodyOf(stored) as Record<string, unknown>;
  const changed = Object.entries(bodyOf(draft)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  return Object.fromEntries(changed) as UpdateGuardrail;
}
