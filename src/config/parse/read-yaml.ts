import * as yaml from 'yaml';
import type { FilePlace } from '../problem.ts';

export type YamlReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly YamlProblem[] }
  /** The text as a whole cannot be read; the reason follows "the configuration". */
  | { readonly ok: false; readonly reason: string };

/** A problem of the text. `yaml-words.ts` says what is shown of it. */
export interface YamlProblem {
  readonly code: string;
  /** The library's message; may quote the text. */
  readonly message: string;
  readonly place: FilePlace;
  /** For a duplicate key: where the first one is. */
  readonly firstPlace?: FilePlace;
}

export interface PlaceQuery {
  readonly segments: readonly (string | number)[];
  readonly isAtKey: boolean;
}

/** Copies that the aliases (`*name`) of an anchor may make: each may expand to a whole tree. */
const MAX_ALIASES = 100;

/** Problems counted of those that do not follow from each other. */
const MAX_PROBLEMS = 100;

/**
 * Parses YAML 1.2 without tags in linear time. Syntax errors are reported one at a time, because later ones mostly
 * follow from the first.
 */
export function readYaml(text: string): YamlReading {
  const lines = new yaml.LineCounter();
  const problems: YamlProblem[] = [];

  const placeAt = (offset: number, width = 1): FilePlace => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col, width };
  };
  const report = (code: string, place: FilePlace, firstPlace?: FilePlace) => {
    if (problems.length >= MAX_PROBLEMS) return;
    problems.push({ code, message: code, place, ...(firstPlace !== undefined && { firstPlace }) });
  };
  const checkKeys = (node: unknown): void => {
    if (yaml.isSeq(node)) for (const item of node.items) checkKeys(item);
    if (!yaml.isMap(node)) return;
    const seen = new Map<string, FilePlace>();
    for (const { key, value } of node.items) {
      const [from, to] = (yaml.isNode(key) ? key.range : undefined) ?? [0, 1];
      if (!yaml.isScalar(key)) report('KEY_NOT_TEXT', placeAt(from));
      else {
        const name = String(key.value ?? '');
        const first = seen.get(name);
        const place = placeAt(from, to - from);
        if (name === '<<' && key.type === 'PLAIN') report('MERGE_KEY', place);
        if (first !== undefined) report('DUPLICATE_KEY', place, first);
        else seen.set(name, place);
      }
      checkKeys(value);
    }
  };
  /** Where the quoted text or bracket begins that is open at the end of the range of an error. */
  const opening = (contents: unknown, offset: number, isOpen: (node: object) => boolean): number => {
    let found = offset;
    yaml.visit(contents as Parameters<typeof yaml.visit>[0], {
      Node(_key, node) {
        const from = node.range?.[0];
        if (from !== undefined && from < offset && isOpen(node)) found = from;
      },
    });
    return found;
  };
  const isOpenQuote = (node: object) =>
    yaml.isScalar(node) && (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE');
  const isOpenBracket = (node: object) => {
    if (!yaml.isCollection(node) || node.flow !== true || !node.range) return false;
    return !/[\]}]/.test(text[node.range[1] - 1] ?? '');
  };

  try {
    const document = yaml.parseDocument(text, {
      version: '1.2',
      schema: 'core',
      customTags: [],
      // The library's check takes quadratic time; checkKeys takes linear time.
      uniqueKeys: false,
      prettyErrors: false,
      lineCounter: lines,
    });
    const errors = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0]);
    if (errors.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) {
      return { ok: false, reason: 'is nested too deep to be read' };
    }
    const [first, ...rest] = errors;
    if (first !== undefined) {
      const codes = [first, ...rest].filter(({ pos }) => pos[0] === first.pos[0]).map(({ code }) => code);
      const isTooFar = codes.includes('BLOCK_AS_IMPLICIT_KEY') && codes.includes('MULTILINE_IMPLICIT_KEY');
      const isList = errors.some(({ message }) => message.includes('block-seq-ind'));
      const isDash = /^A block sequence/.test(first.message);
      let from = first.pos[0];
      const isUnspaced = /KEY|CHAR/.test(first.code) && /^[\w-]+:[^\s:/]/.test(text.slice(from, from + 64));
      const own = [
        isUnspaced && 'NO_SPACE',
        isTooFar && 'TOO_FAR',
        isDash && 'DASH_INDENT',
        isList && 'LIST_IN_MAP',
      ].find((name) => name !== false);
      const code = own ?? first.code;
      if (/closing .quote/.test(first.message)) from = opening(document.contents, from, isOpenQuote);
      if (/^Flow (map|sequence)/.test(first.message)) from = opening(document.contents, from, isOpenBracket);
      if (code === 'TOO_FAR') from = text.indexOf('\n', from) + 1;
      if (text[from - 1] === '\n' || from === 0) while (text[from] === ' ') from++;
      if (code === 'TAB_AS_INDENT') while (text[from] !== '\t' && from < text.length) from++;
      problems.push({ code, message: first.message, place: placeAt(from) });
    }
    if (problems.length === 0) checkKeys(document.contents);
    if (problems.length === 0) {
      // In the order of the text: an anchor must come before its aliases.
      const anchors = new Map<string, { readonly node: yaml.Node; uses: number; weight: number }>();
      /** Copies of a single value that an alias makes, which the aliases inside its value multiply. */
      const copiesBy = (alias: string): number => {
        const anchor = anchors.get(alias);
        return anchor === undefined ? 1 : anchor.uses * anchor.weight;
      };
      yaml.visit(document, {
        Node(_key, node) {
          if (!yaml.isAlias(node)) {
            if (node.anchor !== undefined) anchors.set(node.anchor, { node, uses: 0, weight: 0 });
            return undefined;
          }
          const place = placeAt(node.range?.[0] ?? 0, node.source.length + 1);
          const anchor = anchors.get(node.source);
          if (anchor === undefined) {
            report('UNKNOWN_ALIAS', place);
            return undefined;
          }
          if ((anchor.node.range?.[1] ?? 0) > (node.range?.[0] ?? 0)) {
            report('ALIAS_IN_ITSELF', place);
            return undefined;
          }
          anchor.uses++;
          if (anchor.weight === 0) {
            anchor.weight = 1;
            yaml.visit(anchor.node, {
              Alias(_name, inner) {
                anchor.weight = Math.max(anchor.weight, copiesBy(inner.source));
              },
            });
          }
          if (copiesBy(node.source) <= MAX_ALIASES) return undefined;
          report('TOO_MANY_ALIASES', place);
          return yaml.visit.BREAK;
        },
      });
    }
    const top = document.contents;
    if (problems.length === 0 && top !== null && !yaml.isMap(top)) {
      const [from, to] = top.range ?? [0, 1];
      const [shown = ''] = text.slice(from, to).split('\n', 1);
      const code = yaml.isSeq(top) ? 'TOP_LIST' : /^[\w-]+:[^\s:/]/.test(shown) ? 'NO_SPACE' : 'TOP_TEXT';
      report(code, placeAt(from, shown.length));
    }
    if (problems.length > 0) return { ok: false, problems };
    return { ok: true, value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, reason: 'is nested too deep to be read' };
    if (!(error instanceof ReferenceError)) throw error;
    return { ok: false, reason: 'uses aliases too often' };
  }
}

/**
 * Finds members in a text that `readYaml` has accepted. For a member that is missing: the place of the section that
 * lacks it. Undefined for a path that begins with no key of the file.
 */
export function findPlaces(text: string, queries: readonly PlaceQuery[]): (FilePlace | undefined)[] {
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, {
    version: '1.2',
    schema: 'core',
    customTags: [],
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
  });
  const resolved = (node: unknown): unknown => (yaml.isAlias(node) ? node.resolve(document) : node);
  const placeOf = (node: unknown): FilePlace | undefined => {
    const range = yaml.isNode(node) ? node.range : undefined;
    if (!range) return undefined;
    const { line, col } = lines.linePos(range[0]);
    const [firstLine = ''] = text.slice(range[0], range[1]).split(/[\r\n]/, 1);
    return { line, column: col, width: Math.max(1, firstLine.trimEnd().length) };
  };
  const isNamed = (key: unknown, name: string): boolean => {
    const found = yaml.isScalar(key) ? String(key.value ?? '') : '';
    // A price per million; a name that was cut in the path.
    return found === name || found === `${name}_per_million` || (name.length >= 64 && found.startsWith(name));
  };
  /** The first key in a list item or section. */
  const headOf = (node: unknown): unknown => (yaml.isMap(node) ? node.items[0]?.key : node);

  return queries.map(({ segments, isAtKey }) => {
    let node: unknown = document.contents;
    let key: unknown;
    for (const [at, segment] of segments.entries()) {
      const parent = resolved(node);
      if (typeof segment === 'number' && yaml.isSeq(parent) && segment < parent.items.length) {
        node = parent.items[segment];
        key = undefined;
        continue;
      }
      const pair = yaml.isMap(parent)
        ? parent.items.find((item) => isNamed(item.key, String(segment)))
        : undefined;
      if (pair === undefined)
        return at === 0 ? undefined : (placeOf(key) ?? placeOf(headOf(node)) ?? placeOf(node));
      ({ key, value: node } = pair);
    }
    const isLong = yaml.isCollection(node) || !yaml.isNode(node) || node.range?.[0] === node.range?.[1];
    if (key !== undefined && (isAtKey || isLong)) return placeOf(key);
    return yaml.isCollection(node) ? (placeOf(headOf(node)) ?? placeOf(node)) : placeOf(node);
  });
}
