import type { Problem } from '../../config/problem.ts';
import { classifierIssues } from '../classifiers/classifier-change.ts';
import type { DeclaredWorkspace } from './application.ts';

/**
 * Problems of the classifiers of a workspace of the file that its schema does not find. Whether their models exist is
 * not known here: the catalogue may come to know them later.
 */
export function classifierProblems(
  { classifiers }: DeclaredWorkspace,
  path: string,
  vendor: string,
): Problem[] {
  const checks = { vendor, isModel: () => true };
  const firstAt = new Map<string, string>();
  let activeAt: string | undefined;
  return (classifiers ?? []).flatMap((classifier, index) => {
    const at = `${path}[${index}]`;
    const { name, is_active: isActive, dimensions, monthly_budget_usd: budget } = classifier;
    const first = firstAt.get(name);
    firstAt.set(name, first ?? at);
    const active = activeAt;
    if (isActive ?? true) activeAt ??= at;
    return [
      ...(first === undefined ? [] : [{ path: `${at}.name`, message: `is that of ${first}: take another` }]),
      ...((isActive ?? true) && active !== undefined
        ? [{ path: at, message: `is active beside ${active}: write is_active: false at one of them` }]
        : []),
      ...classifierIssues({ dimensions, monthly_budget_usd: budget ?? null }, checks).map((issue) => ({
        ...issue,
        path: `${at}.${issue.path}`,
      })),
    ];
  });
}
