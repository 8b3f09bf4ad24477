import { configIssues } from '../../broadcast/destination-config.ts';
import { DESTINATION_TYPES } from '../../broadcast/destination-types.ts';
import { filterIssues } from '../../broadcast/filter-rules.ts';
import { didYouMean, inWordsOfYaml } from '../../config/parse/explain.ts';
import type { Problem } from '../../config/problem.ts';
import { type Issue, MISSING_FIELD, UNKNOWN_FIELD } from '../../kit/json/validate.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';
import { DESTINATION_LIMITS } from '../../ports/following/destinations.ts';
import { rulesOf } from '../destinations/destination-change.ts';
import type { DeclaredDestination, DeclaredWorkspace } from './application.ts';

/** Problems of the destinations of a workspace of the file that its schema does not find. No message quotes a value. */
export function destinationProblems({ destinations }: DeclaredWorkspace, path: string): Problem[] {
  const firstAt = new Map<string, string>();
  const counts = new Map<string, number>();
  return (destinations ?? []).flatMap((destination, index) => {
    const at = `${path}[${index}]`;
    const { type, name, filter_rules: rules } = destination;
    const identity = JSON.stringify([type, name]);
    const first = firstAt.get(identity);
    firstAt.set(identity, first ?? at);
    const count = (counts.get(type) ?? 0) + 1;
    counts.set(type, count);
    return [
      ...(first === undefined
        ? []
        : [{ path: `${at}.name`, message: `is that of ${first}, of the same type: take another` }]),
      ...(count <= DESTINATION_LIMITS.ofType ? [] : [{ path: at, message: TOO_MANY }]),
      ...ownConfigProblems(destination).map((problem) => ({ ...problem, path: `${at}.${problem.path}` })),
      ...filterIssues(rulesOf(rules)).map((issue) => ({ ...issue, path: `${at}.${issue.path}` })),
    ];
  });
}

const TOO_MANY = `is one too many: a workspace has at most ${DESTINATION_LIMITS.ofType} of a type`;

/** The file may name private addresses. */
function ownConfigProblems({ type, config }: DeclaredDestination): Problem[] {
  const members = Object.keys(DESTINATION_TYPES[type]?.members ?? {});
  const issues = configIssues(type, config, () => undefined);
  const unknown = issues.filter(({ message }) => message === UNKNOWN_FIELD).map(nameOf);
  const meant = new Set(unknown.map((name) => nearestWord(name, members)));
  return issues
    .filter((issue) => issue.message !== MISSING_FIELD || !meant.has(nameOf(issue)))
    .map((issue) => explained(issue, type, members));
}

/** A problem in the words of the file, with what may have been meant. */
function explained(issue: Issue, type: string, members: readonly string[]): Problem {
  const hint = `members of ${type}: ${members.join(', ')}`;
  if (issue.message === MISSING_FIELD) return { ...issue, hint };
  if (issue.message !== UNKNOWN_FIELD) return { ...issue, message: inWordsOfYaml(issue.message) };
  const message = `${UNKNOWN_FIELD}${didYouMean(nearestWord(nameOf(issue), members))}`;
  return { path: issue.path, message, isAtKey: true, hint };
}

function nameOf({ path }: Issue): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
