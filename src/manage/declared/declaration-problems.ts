import { KNOWN_PROVIDERS } from '../../catalog/providers/known-providers.ts';
import { didYouMean } from '../../config/parse/explain.ts';
import type { Problem } from '../../config/problem.ts';
import type { Config } from '../../config/schema/schema.ts';
import type { Issue } from '../../kit/json/validate.ts';
import type { Sliced } from '../../kit/loop/turns.ts';
import { type EgressRules, parseEgressRules } from '../../kit/net/egress.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';
import { momentMs } from '../../kit/time/moment.ts';
import { unknownProvider } from '../byok/byok.ts';
import { combinationIssues } from '../byok/byok-change.ts';
import {
  type CredentialProvider,
  checkSecret,
  credentialProviders,
  credentialTarget,
} from '../byok/byok-secret.ts';
import { disorderOf } from '../workspaces/budgets.ts';
import type { DeclaredCredential, DeclaredKey, DeclaredWorkspace } from './application.ts';
import { classifierProblems } from './classifier-problems.ts';
import { budgetsOf } from './declared-budgets.ts';
import { hashOf } from './declared-keys.ts';
import { destinationProblems } from './destination-problems.ts';
import { guardrailProblems } from './guardrail-problems.ts';

type Settings = Pick<Config, 'workspaces' | 'providers' | 'egress' | 'guardrails' | 'vendor'>;

/** Problems of the workspaces of a file that its schema does not find, in slices. No message quotes a secret. */
export function* declarationProblems(config: Settings): Sliced<Problem[]> {
  const egress = parseEgressRules(config.egress.allow);
  const providers = credentialProviders(config.providers);
  const slugs = new FirstPlaces();
  const hashes = new FirstPlaces();
  const guarding = {
    providers,
    hasEntityService: config.guardrails.presidio_url !== null,
    assigned: new Map<string, string>(),
  };
  const problems: Problem[] = [];
  for (const [index, workspace] of config.workspaces.entries()) {
    const path = `workspaces[${index}]`;
    problems.push(
      ...slugs.taken(workspace.slug, `${path}.slug`, `"${workspace.slug}"`),
      ...budgetProblems(workspace, `${path}.budgets`),
      ...(workspace.keys ?? []).flatMap((key, at) => keyProblems(key, `${path}.keys[${at}]`, hashes)),
      ...credentialProblems(workspace, `${path}.byok`, providers, egress),
      ...(yield* guardrailProblems(workspace, `${path}.guardrails`, guarding)),
      ...destinationProblems(workspace, `${path}.destinations`),
      ...classifierProblems(workspace, `${path}.classifiers`, config.vendor),
    );
  }
  return problems;
}

/** Remembers where values were first used. */
class FirstPlaces {
  readonly #places = new Map<string, string>();

  taken(value: string, path: string, what: string): Issue[] {
    const first = this.#places.get(value);
    this.#places.set(value, first ?? path);
    return first === undefined ? [] : [{ path, message: `${what} is already used at ${first}` }];
  }
}

function budgetProblems({ budgets }: DeclaredWorkspace, path: string): Issue[] {
  const limits = budgetsOf(budgets);
  const tiny = limits.find(({ limitNanos }) => limitNanos === 0n);
  if (tiny !== undefined)
    return [{ path: `${path}.${tiny.window}`, message: 'must be a nano-dollar or more' }];
  const wrong = disorderOf(limits);
  if (wrong === undefined) return [];
  const [shorter, longer] = wrong;
  return [{ path: `${path}.${longer.window}`, message: `must be more than the ${shorter.window} budget` }];
}

function keyProblems(key: DeclaredKey, path: string, hashes: FirstPlaces): Problem[] {
  const { hash, secret, limit, limit_reset: reset, include_byok_in_limit: countsByok } = key;
  const problems: Problem[] = [];
  if (!hash && !secret)
    problems.push({ path, message: `needs a hash, or a secret from the environment, such as \${TEAM_KEY}` });
  else if (hash && secret)
    problems.push({ path: `${path}.secret`, message: 'stands beside hash: keep one of them' });
  else problems.push(...hashes.taken(hashOf(key), `${path}.${secret ? 'secret' : 'hash'}`, 'this key'));
  const withoutLimit = { message: 'has no effect without a limit', neededPath: `${path}.limit` };
  const hasLimit = typeof limit === 'number';
  if (reset && !hasLimit) problems.push({ path: `${path}.limit_reset`, ...withoutLimit });
  if (countsByok && !hasLimit) problems.push({ path: `${path}.include_byok_in_limit`, ...withoutLimit });
  if (key.expires_at && momentMs(key.expires_at) === undefined) {
    problems.push({ path: `${path}.expires_at`, message: 'is not in the calendar' });
  }
  return problems;
}

function credentialProblems(
  { byok }: DeclaredWorkspace,
  path: string,
  providers: readonly CredentialProvider[],
  egress: EgressRules,
): Issue[] {
  const firstAt = new Map<string, string>();
  return (byok ?? []).flatMap((credential, index) => {
    const at = `${path}[${index}]`;
    const identity = JSON.stringify([credential.provider, credential.name ?? null]);
    const first = firstAt.get(identity);
    firstAt.set(identity, first ?? at);
    const namesakes: Issue[] =
      first === undefined
        ? []
        : [{ path: at, message: `has the provider and name of ${first}: give it a name of its own` }];
    return [...namesakes, ...ownProblems(credential, providers, egress).map((issue) => under(at, issue))];
  });
}

function ownProblems(
  credential: DeclaredCredential,
  providers: readonly CredentialProvider[],
  egress: EgressRules,
): Issue[] {
  const { provider, api_key: secret, is_fallback: isFallback, is_byok_only: isByokOnly } = credential;
  const combined = combinationIssues({ isFallback: isFallback ?? false, isByokOnly: isByokOnly ?? false });
  const target = credentialTarget(provider, providers);
  if (target === undefined) {
    const meant = nearestWord(provider, [...providers.map(({ slug }) => slug), ...KNOWN_PROVIDERS.slugs]);
    const { path, message } = unknownProvider(provider);
    return [{ path, message: `${message}${didYouMean(meant)}` }, ...combined];
  }
  const checked = checkSecret(secret, target, egress);
  return 'problem' in checked ? [{ path: 'api_key', message: checked.problem }, ...combined] : combined;
}

function under(path: string, { path: member, message }: Issue): Issue {
  return { path: `${path}.${member}`, message };
}
