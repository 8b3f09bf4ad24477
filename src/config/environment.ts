import { isJsonObject } from '../kit/json.ts';
import type { Issue } from '../kit/validate.ts';

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
  const fill = (node: unknown, path: string): unknown => {
    if (typeof node === 'string') return fillText(node, environment, path, problems);
    if (Array.isArray(node)) return node.map((item, index) => fill(item, `${path}[${index}]`));
    if (!isJsonObject(node)) return node;
    return Object.fromEntries(
      Object.entries(node).map(([marked, member]) => {
        const name = writtenText(marked);
        return [name, fill(member, path === '' ? name : `${path}.${name}`)];
      }),
    );
  };
  return { value: fill(value, ''), problems };
}

function fillText(text: string, environment: Environment, path: string, problems: Issue[]): string {
  return text.replace(MARK, (_whole, escaped: string, name: string) => {
    if (escaped !== '') return `\${${name}}`;
    const found = environment[name];
    if (found === undefined) {
      problems.push({ path, message: `the environment variable ${name} is not set` });
    }
    return found ?? '';
  });
}

/** The text as it stood in the file: keys are not filled. */
function writtenText(text: string): string {
  return text.replace(MARK, (_whole, _escaped: string, name: string) => `\${${name}}`);
}
