import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { countText } from '../text/count-text.ts';
import { isJsonObject } from './json.ts';

/** One thing wrong with a value: where (`plugins[0].max_results`) and what (`must be <= 25`). */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** The part of JSON Schema that our schemas use, as the reporter walks it. */
export interface SchemaNode {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
  readonly not?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaNode;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly propertyNames?: SchemaNode;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: SchemaNode;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  /** The member that selects the branch of the union; only that branch is reported on. */
  readonly discriminator?: { readonly propertyName: string };
  /** True if no report names unlisted members of the object, or of objects inside it. */
  readonly open?: boolean;
  /** Takes values that the schema does not know by name: reports name such a value. */
  readonly unlisted?: boolean;
  /** Replaces the generic message. */
  readonly explain?: string;
  /** What to say of text that does not match its pattern, where other things may be wrong with it too. */
  readonly explainPattern?: string;
}

export const UNKNOWN_FIELD = 'is not a known field';

export const MISSING_FIELD = 'is required';

/** Issues that are collected unless told otherwise: a million wrong keys must not cost a million strings. */
export const MAX_ISSUES = 20;

export interface Validator {
  /** The issues of `value`, none when it is valid. Valid values take the compiled fast path. */
  issuesOf(value: unknown): Issue[];
}

type Check = (value: unknown) => boolean;

/** Compiled checks by their schemas, which are constants: several gateways of one process share them. */
const checks = new WeakMap<TSchema, Check>();

function compiledCheck(schema: TSchema): Check {
  const known = checks.get(schema);
  if (known !== undefined) return known;
  const compiled = Compile(schema);
  const check: Check = (value) => compiled.Check(value);
  checks.set(schema, check);
  return check;
}

/**
 * Compiles a schema once; the slow, explaining walk runs only on values that failed. It ends when it has found `most`
 * issues.
 */
export function compileValidator(schema: TSchema, most = MAX_ISSUES): Validator {
  let check: Check | undefined;
  return {
    issuesOf(value) {
      check ??= compiledCheck(schema);
      if (check(value)) return [];
      const issues: Issue[] = [];
      walk(schema as SchemaNode, value, '', { issues, most });
      return issues.length > 0 ? issues : [{ path: '', message: 'is not valid' }];
    },
  };
}

interface Found {
  readonly issues: Issue[];
  readonly most: number;
}

function walk(schema: SchemaNode, value: unknown, path: string, found: Found): void {
  if (found.issues.length >= found.most) return;
  const before = found.issues.length;
  if (schema.anyOf !== undefined) {
    walkUnion(schema, schema.anyOf, value, path, found);
  } else {
    walkNode(schema, value, path, found);
  }
  if (found.issues.length > before && schema.explain !== undefined) {
    found.issues.length = before;
    found.issues.push({ path, message: schema.explain });
  }
}

function walkNode(schema: SchemaNode, value: unknown, path: string, found: Found): void {
  const problem = problemOf(schema, value);
  if (problem !== undefined) {
    found.issues.push({ path, message: problem });
    return;
  }
  for (const part of schema.allOf ?? []) {
    const before = found.issues.length;
    walk(part, value, path, found);
    // One failing part explains the problem; the next parts would repeat it.
    if (found.issues.length > before) return;
  }
  if (isJsonObject(value)) walkObject(schema, value, path, found);
  else if (Array.isArray(value) && schema.items !== undefined) {
    for (let index = 0; index < value.length && found.issues.length < found.most; index++) {
      walk(schema.items, value[index], `${path}[${index}]`, found);
    }
  }
}

function walkObject(schema: SchemaNode, value: Record<string, unknown>, path: string, found: Found): void {
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name))
      found.issues.push({ path: memberPath(path, name), message: MISSING_FIELD });
  }
  const properties = schema.properties ?? {};
  for (const [name, node] of Object.entries(properties)) {
    if (Object.hasOwn(value, name)) walk(node, value[name], memberPath(path, name), found);
  }
  const open =
    schema.patternProperties !== undefined ? Object.values(schema.patternProperties)[0] : undefined;
  const rest = open ?? schema.additionalProperties;
  if (rest === undefined && schema.propertyNames === undefined) return;
  for (const name of Object.keys(value)) {
    if (found.issues.length >= found.most) return;
    const nameProblem = schema.propertyNames && problemOf(schema.propertyNames, name);
    if (nameProblem !== undefined)
      found.issues.push({ path: memberPath(path, name), message: `key ${nameProblem}` });
    else if (Object.hasOwn(properties, name)) continue;
    else if (rest === false) found.issues.push({ path: memberPath(path, name), message: UNKNOWN_FIELD });
    else if (typeof rest === 'object') walk(rest, value[name], memberPath(path, name), found);
  }
}

function walkUnion(
  schema: SchemaNode,
  branches: readonly SchemaNode[],
  value: unknown,
  path: string,
  found: Found,
): void {
  const tag = schema.discriminator?.propertyName;
  if (tag !== undefined && isJsonObject(value)) {
    walkTagged(tag, branches.flatMap(flatten), value, path, found);
    return;
  }
  if (branches.some((branch) => matches(branch, value))) return;
  const sameKind = branches.filter((branch) => isSameKind(branch, value));
  const meant = sameKind.length === 1 ? sameKind[0] : undefined;
  if (meant !== undefined && literalValues(meant).length === 0) walk(meant, value, path, found);
  else found.issues.push({ path, message: `must be ${describe(branches)}` });
}

/** Whether a branch takes values of this kind at all: a tagged union takes objects, literals what they are. */
function isSameKind(branch: SchemaNode, value: unknown): boolean {
  if (branch.anyOf !== undefined) return branch.discriminator === undefined || isJsonObject(value);
  const literals = literalValues(branch);
  if (literals.length > 0) return literals.some((literal) => typeof literal === typeof value);
  return kindProblem(branch, value) === undefined;
}

/** The values that a node itself lists; a union lists none. */
function literalValues(node: SchemaNode): readonly unknown[] {
  return node.enum ?? (node.const === undefined ? [] : [node.const]);
}

/** Reports on the branch that the value names by its tag, and on no other. */
function walkTagged(
  tag: string,
  branches: readonly SchemaNode[],
  value: Record<string, unknown>,
  path: string,
  found: Found,
): void {
  const given = value[tag];
  const named = namedBranches(tag, branches, given);
  const meant = named.length > 1 ? closest(named, value) : named[0];
  if (meant !== undefined) {
    walk(meant, value, path, found);
    return;
  }
  const allowed = new Set(branches.flatMap((branch) => literalsOf(branch.properties?.[tag])));
  const message = given === undefined ? MISSING_FIELD : `must be one of ${[...allowed].join(', ')}`;
  found.issues.push({ path: memberPath(path, tag), message });
}

export function namedBranches(tag: string, branches: readonly SchemaNode[], given: unknown): SchemaNode[] {
  return branches.filter((branch) => {
    const node = branch.properties?.[tag];
    if (node === undefined) return false;
    return given === undefined ? !(branch.required ?? []).includes(tag) : matches(node, given);
  });
}

/** The branch with the fewest problems, of several with the same tag. */
function closest(branches: readonly SchemaNode[], value: unknown): SchemaNode | undefined {
  let best: SchemaNode | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const branch of branches) {
    const issues: Issue[] = [];
    walk(branch, value, '', { issues, most: MAX_ISSUES });
    if (issues.length < fewest) {
      best = branch;
      fewest = issues.length;
    }
  }
  return best;
}

/** The branches of a union, those of unions inside it too; a node that is no union is its only branch. */
export function flatten(branch: SchemaNode): readonly SchemaNode[] {
  return branch.anyOf === undefined ? [branch] : branch.anyOf.flatMap((inner) => flatten(inner));
}

/** True if the value is valid. For values that compiled checks do not cover: this one is slow. */
export function matches(schema: SchemaNode, value: unknown): boolean {
  const issues: Issue[] = [];
  walk(schema, value, '', { issues, most: MAX_ISSUES });
  return issues.length === 0;
}

function literalsOf(node: SchemaNode | undefined): string[] {
  if (node === undefined) return [];
  const own = literalValues(node).map((value) => JSON.stringify(value));
  return own.length > 0 ? own : (node.anyOf ?? []).flatMap((inner) => literalsOf(inner));
}

function describe(branches: readonly SchemaNode[]): string {
  const literals = branches.flatMap((branch) => literalsOf(branch));
  const kinds = branches
    .flatMap((branch) => flatten(branch))
    .filter((branch) => literalsOf(branch).length === 0);
  const names = [...new Set(kinds.map((branch) => withArticle(branch.type ?? 'valid')))];
  return [...(literals.length > 0 ? [`one of ${[...new Set(literals)].join(', ')}`] : []), ...names].join(
    ' or ',
  );
}

const KIND_CHECKS: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: (value) => isJsonObject(value),
};

function kindProblem(schema: SchemaNode, value: unknown): string | undefined {
  if (schema.type === undefined) return undefined;
  return KIND_CHECKS[schema.type]?.(value) === false ? `must be ${withArticle(schema.type)}` : undefined;
}

function withArticle(kind: string): string {
  return kind === 'null' ? 'null' : `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

/** Problem of the value itself, without its members. */
function problemOf(schema: SchemaNode, value: unknown): string | undefined {
  const literals = literalsOf(schema);
  if (literals.length > 0 && !literals.includes(JSON.stringify(value) ?? '')) {
    return `must be ${literals.length > 1 ? 'one of ' : ''}${literals.join(', ')}`;
  }
  const kind = kindProblem(schema, value);
  if (kind !== undefined) return kind;
  if (schema.not !== undefined && matches(schema.not, value)) return 'is not allowed here';
  if (typeof value === 'number') return numberProblem(schema, value);
  if (typeof value === 'string') return stringProblem(schema, value);
  if (Array.isArray(value)) return countProblem(value.length, 'item', schema.minItems, schema.maxItems);
  if (isJsonObject(value)) {
    return countProblem(Object.keys(value).length, 'key', schema.minProperties, schema.maxProperties);
  }
  return undefined;
}

function numberProblem(schema: SchemaNode, value: number): string | undefined {
  if (schema.minimum !== undefined && value < schema.minimum) return `must be >= ${schema.minimum}`;
  if (schema.maximum !== undefined && value > schema.maximum) return `must be <= ${schema.maximum}`;
  if (schema.exclusiveMinimum !== undefined && value <= schema.exclusiveMinimum) {
    return `must be > ${schema.exclusiveMinimum}`;
  }
  return undefined;
}

function stringProblem(schema: SchemaNode, value: string): string | undefined {
  if (schema.minLength !== undefined && value.length < schema.minLength) {
    return schema.minLength === 1
      ? 'must not be empty'
      : `must have at least ${countText(schema.minLength, 'character')}`;
  }
  if (schema.maxLength !== undefined && value.length > schema.maxLength) {
    return `must have at most ${countText(schema.maxLength, 'character')}`;
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
    return schema.explainPattern ?? `must match ${schema.pattern}`;
  }
  return undefined;
}

function countProblem(count: number, what: string, least?: number, most?: number): string | undefined {
  if (least !== undefined && count < least) return `must have at least ${countText(least, what)}`;
  if (most !== undefined && count > most) return `must have at most ${countText(most, what)}`;
  return undefined;
}

/** The path of a member: `headers.accept`, or `headers["a b"]` if the name is not a plain word. */
export function memberPath(path: string, name: string): string {
  if (!/^[A-Za-z_][\w-]*$/.test(name)) return `${path}[${JSON.stringify(name.slice(0, 64))}]`;
  const shown = name.slice(0, 128);
  return path === '' ? shown : `${path}.${shown}`;
}
