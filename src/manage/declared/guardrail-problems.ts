import type { Issue } from '../../kit/json/validate.ts';
import type { Sliced } from '../../kit/loop/turns.ts';
import { quoted } from '../../kit/text/quoted.ts';
import { checkingPatterns } from '../../stages/guardrails/filters/check-pattern.ts';
import { type CredentialProvider, credentialTarget } from '../byok/byok-secret.ts';
import { builtinIssues, patternIssues, serviceIssues } from '../guardrails/guardrail-issues.ts';
import type { DeclaredGuardrail, DeclaredWorkspace } from './application.ts';
import { subjectsOf } from './declared-guardrails.ts';

export interface GuardrailProblemContext {
  readonly providers: readonly CredentialProvider[];
  readonly hasEntityService: boolean;
  /** Where each key and member has a guardrail already, over the whole file. */
  readonly assigned: Map<string, string>;
}

const HASH = /^[a-f0-9]{64}$/;

/** Problems of the guardrails of a workspace of the file that its schema does not find, in slices. */
export function* guardrailProblems(
  workspace: DeclaredWorkspace,
  path: string,
  context: GuardrailProblemContext,
): Sliced<Issue[]> {
  const problems: Issue[] = [];
  const names = new Map<string, string>();
  let defaultAt: string | undefined;
  for (const [index, guardrail] of (workspace.guardrails ?? []).entries()) {
    const at = `${path}[${index}]`;
    const namesake = names.get(guardrail.name);
    names.set(guardrail.name, namesake ?? at);
    if (namesake !== undefined)
      problems.push({ path: `${at}.name`, message: `is already used at ${namesake}` });
    if (guardrail.default && defaultAt !== undefined) {
      problems.push({ path: `${at}.default`, message: `${defaultAt} is the default already` });
    }
    if (guardrail.default) defaultAt ??= at;
    const { content_filters = null } = guardrail;
    problems.push(
      ...assignmentProblems(guardrail, workspace, at, context.assigned),
      ...[
        ...providerProblems(guardrail, context.providers),
        ...(yield* patternIssues({ content_filters }, { checkingPatterns })),
        ...builtinIssues({ content_filter_builtins: guardrail.content_filter_builtins ?? null }, context),
        // The file may name private addresses.
        ...serviceIssues(guardrail, () => undefined),
      ].map((issue) => ({ path: `${at}.${issue.path}`, message: issue.message })),
    );
  }
  return problems;
}

function providerProblems(guardrail: DeclaredGuardrail, providers: readonly CredentialProvider[]): Issue[] {
  return (['allowed_providers', 'ignored_providers'] as const).flatMap((list) =>
    (guardrail[list] ?? []).flatMap((slug, index) => {
      if (credentialTarget(slug, providers) !== undefined) return [];
      const message = `${quoted(slug)} is not a provider that this gateway knows`;
      return [{ path: `${list}[${index}]`, message }];
    }),
  );
}

/** A key or a member has one guardrail; keys are named by hash, or by their name in the same workspace. */
function assignmentProblems(
  guardrail: DeclaredGuardrail,
  workspace: DeclaredWorkspace,
  path: string,
  assigned: Map<string, string>,
): Issue[] {
  const { key, member } = subjectsOf(guardrail, workspace);
  const taken = (kind: string, subject: string): Issue[] => {
    const first = assigned.get(`${kind} ${subject}`);
    assigned.set(`${kind} ${subject}`, first ?? path);
    if (first === undefined) return [];
    return [{ path: `${path}.${kind}s`, message: `a ${kind} of it has the guardrail at ${first} already` }];
  };
  const unknown = key.filter((hash) => !HASH.test(hash));
  return [
    ...unknown.map((name) => ({
      path: `${path}.keys`,
      message: `${quoted(name)} is neither the hash of a key nor the name of one in this workspace`,
    })),
    ...key.flatMap((hash) => taken('key', hash)),
    ...member.flatMap((user) => taken('member', user)),
  ];
}
