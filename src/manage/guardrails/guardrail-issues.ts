import type { UpdateGuardrail } from '../../contract/guardrails/guardrail.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { SharedTurn, type Sliced } from '../../kit/loop/turns.ts';
import { urlOf } from '../../kit/net/url-of.ts';
import { quoted } from '../../kit/text/quoted.ts';
import type { BuiltinSlug } from '../../ports/tenancy/guardrails.ts';

/** Names that a list may have. */
export interface KnownNames {
  has(name: string): boolean;
  /** The name that a misspelt one is most like; undefined = none is like it. */
  nearest(name: string): string | undefined;
}

/** Comparing a name with all known ones takes a while, so only the first unknown names of a list get a suggestion. */
const MAX_SUGGESTIONS = 5;

export interface GuardrailChecks {
  readonly models: KnownNames;
  readonly providers: KnownNames;
  /** The patterns of a guardrail that are refused, and why, in words that fit behind "the pattern". */
  checkingPatterns(
    patterns: readonly string[],
  ): Sliced<readonly { readonly index: number; readonly problem: string }[]>;
  /** Why a service may not be called, in words that fit behind "the URL"; undefined = it may. */
  addressProblem(url: URL): string | undefined;
  /** Whether the configuration names a service that finds names and addresses of people. */
  readonly hasEntityService: boolean;
}

/** Built-in filters that a service outside the gateway carries out. */
export const SERVED_SLUGS: ReadonlySet<BuiltinSlug> = new Set(['person-name', 'address']);

/** Problems of a body that its schema does not find. */
export function guardrailIssues(wanted: UpdateGuardrail, checks: GuardrailChecks): Issue[] {
  return [
    ...unknownProviders(wanted, 'allowed_providers', checks.providers),
    ...unknownProviders(wanted, 'ignored_providers', checks.providers),
    ...unknownModels(wanted, 'allowed_models', checks.models),
    ...unknownModels(wanted, 'ignored_models', checks.models),
    ...builtinIssues(wanted, checks),
    ...serviceIssues(wanted, checks.addressProblem),
  ];
}

/** Throws 400 if a body has problems. */
export async function refuseGuardrailIssues(wanted: UpdateGuardrail, checks: GuardrailChecks): Promise<void> {
  const issues = guardrailIssues(wanted, checks);
  const patterns = await new SharedTurn().run(patternIssues(wanted, checks));
  if (patterns.length === 0 && issues.length === 0) return;
  const refusal = invalidRequest([...patterns, ...issues]);
  if (patterns.length === 0) throw refusal;
  throw new GatewayError(refusal.kind, refusal.message, {
    ...(refusal.metadata !== undefined && { metadata: refusal.metadata }),
    details: { type: INVALID_PATTERN },
  });
}

const INVALID_PATTERN = 'invalid_regex_pattern';

/** The patterns that are refused, with the reasons. */
export function* patternIssues(
  { content_filters: filters }: Pick<UpdateGuardrail, 'content_filters'>,
  { checkingPatterns }: Pick<GuardrailChecks, 'checkingPatterns'>,
): Sliced<Issue[]> {
  const problems = yield* checkingPatterns((filters ?? []).map(({ pattern }) => pattern));
  return problems.map(({ index, problem }) => ({
    path: `content_filters[${index}].pattern`,
    message: `${INVALID_PATTERN}: the pattern ${problem}`,
  }));
}

/** Lists of names by the members of a body that give them. */
type NameLists<Member extends string> = Readonly<Partial<Record<Member, readonly string[] | null>>>;

function unknownProviders<Member extends string>(
  wanted: NameLists<Member>,
  list: Member,
  providers: KnownNames,
): Issue[] {
  return unknownNames(wanted, list, providers, 'is not a provider that this gateway knows');
}

/** The models of a list that are not known. */
export function unknownModels<Member extends string>(
  wanted: NameLists<Member>,
  list: Member,
  models: KnownNames,
): Issue[] {
  return unknownNames(wanted, list, models, 'is not a model that this gateway knows');
}

/** An unknown name would silently forbid everything, or nothing. */
function unknownNames<Member extends string>(
  wanted: NameLists<Member>,
  list: Member,
  known: KnownNames,
  problem: string,
): Issue[] {
  const given = (wanted[list] ?? []).map((name, index) => ({ name, path: `${list}[${index}]` }));
  const unknown = given.filter(({ name }) => !known.has(name));
  return unknown.map(({ name, path }, place) => {
    const meant = place < MAX_SUGGESTIONS ? known.nearest(name) : undefined;
    const suggestion = meant === undefined ? '' : `; did you mean ${quoted(meant)}?`;
    return { path, message: `${quoted(name)} ${problem}${suggestion}` };
  });
}

export function serviceIssues(
  { service }: { readonly service?: { readonly url: string } | null | undefined },
  addressProblem: GuardrailChecks['addressProblem'],
): Issue[] {
  if (!service) return [];
  const url = urlOf(service.url);
  const problem = url === undefined ? 'is not valid' : addressProblem(url);
  return problem === undefined ? [] : [{ path: 'service.url', message: `the URL ${problem}` }];
}

/** Problems of built-in filters that exclude each other or are not available. */
export function builtinIssues(
  { content_filter_builtins: builtins }: Pick<UpdateGuardrail, 'content_filter_builtins'>,
  { hasEntityService }: Pick<GuardrailChecks, 'hasEntityService'>,
): Issue[] {
  const seen = new Set<string>();
  return (builtins ?? []).flatMap(({ slug, scan_scope: scope }, index) => {
    const path = `content_filter_builtins[${index}]`;
    const issues: Issue[] = [];
    if (seen.has(slug)) issues.push({ path: `${path}.slug`, message: `${slug} is given twice` });
    seen.add(slug);
    if (scope !== undefined && scope !== null && slug !== 'regex-prompt-injection') {
      issues.push({ path: `${path}.scan_scope`, message: 'is for regex-prompt-injection only' });
    }
    if (SERVED_SLUGS.has(slug) && !hasEntityService) {
      const message = `${slug} needs a Presidio-compatible service: set guardrails.presidio_url in the configuration`;
      issues.push({ path: `${path}.slug`, message });
    }
    return issues;
  });
}
