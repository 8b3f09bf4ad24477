export interface MemberAt {
  /** Index at which it begins, or something in it. */
  readonly from: number;
  /** True if its value is secret, or lies in one that is. */
  readonly isSecret: boolean;
}

/**
 * The member of a line of YAML in which an index lies, in linear time. Follows quotes and brackets from the beginning
 * of the line, so that nothing inside a secret looks like its end.
 */
export function memberAt(line: string, index: number, isSecretName: (name: string) => boolean): MemberAt {
  /** One for each open bracket: whether what it holds is secret. */
  const open: boolean[] = [];
  let from = 0;
  let nameFrom = 0;
  let isSecret = false;
  /** A quote or, outside of brackets, a bracket counts only where a value begins. */
  let isBegin = true;
  const begin = (at: number) => {
    nameFrom = at;
    isBegin = true;
  };
  for (let at = 0; at < index; at++) {
    const character = line.charAt(at);
    const isInBrackets = open.length > 0;
    if (character === ' ' || character === '\t') continue;
    if (isBegin && (character === '"' || character === "'")) {
      at = endOfQuote(line, at);
      isBegin = false;
    } else if (isBegin && (character === '&' || character === '!')) {
      // An anchor or tag stands before its value.
      while (at < index && line.charAt(at) !== ' ') at++;
    } else if ((isBegin || isInBrackets) && (character === '{' || character === '[')) {
      open.push(isSecret || open.at(-1) === true);
      isSecret = open.at(-1) === true;
      from = at + 1;
      begin(from);
    } else if (isInBrackets && (character === '}' || character === ']')) {
      isSecret = open.pop() === true;
      isBegin = false;
    } else if (isInBrackets && character === ',') {
      isSecret = open.at(-1) === true;
      from = at + 1;
      begin(from);
    } else if (character === ':' && endsName(line, at)) {
      isSecret ||= isSecretName(line.slice(nameFrom, at).replace(/^[\s"'-]+|[\s"']+$/g, ''));
      begin(at + 1);
    } else {
      isBegin = isBegin && character === '-' && line.charAt(at + 1) === ' ';
    }
  }
  return { from, isSecret };
}

/** True for a colon with a space behind it, or behind a quoted name, as in JSON. */
function endsName(line: string, at: number): boolean {
  return /^[\s,[\]{}]?$/.test(line.charAt(at + 1)) || /["']/.test(line.charAt(at - 1));
}

/** Index of the closing quote; the length of the line if there is none. */
function endOfQuote(line: string, from: number): number {
  const quote = line.charAt(from);
  for (let at = from + 1; at < line.length; at++) {
    if (line.charAt(at) === '\\' && quote === '"') at++;
    else if (line.charAt(at) === quote) {
      if (quote === '"' || line.charAt(at + 1) !== quote) return at;
      at++;
    }
  }
  return line.length;
}
