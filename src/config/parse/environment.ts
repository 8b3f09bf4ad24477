import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { shownName } from './shown-text.ts';

/** Variables of the environment, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/*
 * `${NAME}` is no plain scalar inside YAML's flow maps, so it is exchanged before the text is parsed for a mark of
 * the same length (positions in problems stay right) and the mark for the value after. A value is never read as YAML.
 */
const OPEN = '\uE000';
const CLOSE = '\uE001';
const VARIABLE = /\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
const MARK = new RegExp(`${OPEN}(${OPEN}?)([A-Za-z_][A-Za-z0-9_]*)${CLOSE}{2}`, 'g');

/** Marks every `${NAME}` of a YAML text; `$${NAME}` stands for the text `${NAME}` itself. */
export function markVariables(text: string): string {
  return text.replace(VARIABLE, (_whole, escaped: string, name: string) => {
    return `${OPEN}${escaped === '' ? '' : OPEN}${name}${CLOSE}${CLOSE}`;
  });
}

/** Puts the values of the environment where the marks are. A name that is not set is a problem with its path. */
export function fillVariables(
  value: unknown,
  environment: Environment,
): { readonly value: unknown; readonly problems: readonly Issue[] } {
  const problems: Issue[] = [];
  // Written out only for a problem: a file may have very many places, and hardly ever a problem.
  const trail: (string | number)[] = [];
  const fillMember = (name: string | number, member: unknown): unknown => {
    trail.push(name);
    const filled = fill(member);
    trail.pop();
    return filled;
  };
  const tell = (message: string) => problems.push({ path: pathOf(trail), message });
  const fill = (node: unknown): unknown => {
    if (typeof node === 'string') return fillText(node, environment, tell);
    if (Array.isArray(node)) return node.map((item, index) => fillMember(index, item));
    return isJsonObject(node) ? fillObject(node) : node;
  };
  /** The object itself where no variable stands in it: most of a large file has none, and copies take time. */
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

function pathOf(trail: readonly (string | number)[]): string {
  return trail
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${shownName(step)}`))
    .join('')
    .replace(/^\./, '');
}

function fillText(text: string, environment: Environment, tell: (problem: string) => void): string {
  if (!text.includes(OPEN)) return text;
  return text.replace(MARK, (_whole, escaped: string, name: string) => {
    if (escaped !== '') return `\${${name}}`;
    const found = environment[name];
    if (found === undefined) tell(`the environment variable ${shownName(name)} is not set`);
    return found ?? '';
  });
}

/** The text as it stood in the file: keys are not filled. */
function writtenText(text: string): string {
  if (!text.includes(OPEN)) return text;
  return text.replace(MARK, (_whole, _escaped: string, name: string) => `\${${name}}`);
}
