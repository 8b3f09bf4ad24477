import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { type Issue, memberPath } from '../../kit/json/validate.ts';
import { shownName } from './shown-text.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/*
 * `${NAME}` is not a plain scalar inside YAML's flow maps. So it is replaced by a mark of the same length before
 * parsing (positions in problems stay right), and the mark by the value afterwards. A value is never parsed as YAML.
 */
const OPEN = '\uE000';
const CLOSE = '\uE001';
const VARIABLE = /\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
const MARK = new RegExp(`${OPEN}(${OPEN}?)([A-Za-z_][A-Za-z0-9_]*)${CLOSE}{2}`, 'g');

/** Replaces every `${NAME}` by a mark; `$${NAME}` stands for the text `${NAME}` itself. */
export function markVariables(text: string): string {
  return text.replace(VARIABLE, (_whole, escaped: string, name: string) => {
    return `${OPEN}${escaped === '' ? '' : OPEN}${name}${CLOSE}${CLOSE}`;
  });
}

/** Replaces marks by values of the environment. A variable that is not set is a problem. */
export function fillVariables(
  value: unknown,
  environment: Environment,
): { readonly value: unknown; readonly problems: readonly Issue[] } {
  const problems: Issue[] = [];
  // Rendered to a path only for a problem: a file has many places and few problems.
  const trail: (string | number)[] = [];
  const fillMember = (name: string | number, member: unknown): unknown => {
    trail.push(name);
    const filled = fill(member);
    trail.pop();
    return filled;
  };
  const report = (message: string) => problems.push({ path: pathOf(trail), message });
  const fill = (node: unknown): unknown => {
    if (typeof node === 'string') return fillText(node, environment, report);
    if (Array.isArray(node)) return node.map((item, index) => fillMember(index, item));
    return isJsonObject(node) ? fillObject(node) : node;
  };
  /** Returns the object itself if it has no variables: most of a large file has none, and copies take time. */
  const fillObject = (node: JsonObject): unknown => {
    const changed = new Map<string, readonly [string, unknown]>();
    for (const marked of Object.keys(node)) {
      const name = writtenText(marked);
      const filled = fillMember(name, node[marked]);
      if (name !== marked || filled !== node[marked]) changed.set(marked, [name, filled]);
    }
    if (changed.size === 0) return node;
    return Object.fromEntries(Object.entries(node).map((member) => changed.get(member[0]) ?? member));
  };
  return { value: fill(value), problems };
}

/** The first variable of a marked text that is not set. */
export function unsetVariableIn(marked: string, environment: Environment): string | undefined {
  for (const [, escaped, name] of marked.matchAll(MARK)) {
    if (escaped === '' && name !== undefined && environment[name] === undefined) return name;
  }
  return undefined;
}

export function variablesIn(marked: string): string[] {
  return [...marked.matchAll(MARK)].flatMap(([, escaped, name]) =>
    escaped === '' && name !== undefined ? [name] : [],
  );
}

export function hasVariable(marked: string): boolean {
  return marked.includes(OPEN);
}

export function pathOf(trail: readonly (string | number)[]): string {
  return trail.reduce<string>(
    (path, step) => (typeof step === 'number' ? `${path}[${step}]` : memberPath(path, step)),
    '',
  );
}

function fillText(text: string, environment: Environment, report: (problem: string) => void): string {
  if (!text.includes(OPEN)) return text;
  return text.replace(MARK, (_whole, escaped: string, name: string) => {
    if (escaped !== '') return `\${${name}}`;
    const found = environment[name];
    if (found === undefined) report(`the environment variable ${shownName(name)} is not set`);
    return found ?? '';
  });
}

/** The text as the file has it, variables not replaced. */
function writtenText(text: string): string {
  if (!text.includes(OPEN)) return text;
  return text.replace(MARK, (_whole, _escaped: string, name: string) => `\${${name}}`);
}
