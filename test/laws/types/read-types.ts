import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import {
  alternativesOf,
  BOOLEAN,
  literal,
  type Member,
  NUMBER,
  type ObjectShape,
  type Shape,
  STRING,
  UNKNOWN,
  unionOf,
} from './shape.ts';

/** A node of the parser. Only the forms that occur in published types are read. */
type Node = any;

/** What a name stands for: the nodes of its declarations, and the scope that they are read in. */
interface Declared {
  readonly nodes: readonly Node[];
  readonly scope: Scope;
}

/** The names of a file or of a namespace. */
interface Scope {
  readonly file: string;
  readonly source: string;
  readonly outer: Scope | undefined;
  readonly names: Map<string, Node[]>;
  readonly imports: Map<string, { readonly from: string; readonly name: string }>;
  readonly starExports: string[];
}

/**
 * Reads type declarations (`.d.ts`) as data. They are parsed, never run: what a package would do when it is loaded
 * does not matter here.
 */
export class TypeReader {
  readonly #root: string;
  readonly #wireName: (name: string) => string;
  readonly #files = new Map<string, Scope>();
  readonly #objects = new Map<Node, ObjectShape>();
  readonly #reading = new Set<Node>();

  /** `root`: the folder of a package. `wireName`: how a member of its types is spelled in requests and answers. */
  constructor(root: string, wireName = (name: string) => name) {
    this.#root = root;
    this.#wireName = wireName;
  }

  /** The type that a file exports. */
  read(file: string, name: string): Shape {
    const scope = this.#open(join(this.#root, file));
    const declared = this.#find(scope, name);
    if (declared === undefined) throw new Error(`${file} does not export the type ${name}`);
    return this.#shapeOfDeclared(declared, name, []);
  }

  #open(file: string): Scope {
    const known = this.#files.get(file);
    if (known !== undefined) return known;
    const source = readFileSync(file, 'utf8');
    const scope = this.#newScope(file, source, undefined);
    this.#files.set(file, scope);
    for (const node of (parseAst(source, { lang: 'dts', sourceType: 'module' }) as Node).body)
      declare(scope, node);
    return scope;
  }

  #newScope(file: string, source: string, outer: Scope | undefined): Scope {
    return { file, source, outer, names: new Map(), imports: new Map(), starExports: [] };
  }

  #find(scope: Scope, name: string): Declared | undefined {
    const nodes = scope.names.get(name);
    if (nodes !== undefined) return { nodes, scope };
    const imported = scope.imports.get(name);
    if (imported !== undefined) {
      const file = fileAt(scope.file, imported.from);
      if (file === undefined) return undefined;
      const other = this.#open(file);
      return imported.name === '*' ? { nodes: [], scope: other } : this.#find(other, imported.name);
    }
    for (const from of scope.starExports) {
      const file = fileAt(scope.file, from);
      const found = file === undefined ? undefined : this.#find(this.#open(file), name);
      if (found !== undefined) return found;
    }
    return scope.outer === undefined ? undefined : this.#find(scope.outer, name);
  }

  /** The declaration that a dotted name stands for. */
  #findQualified(scope: Scope, name: Node): Declared | undefined {
    if (name.type === 'Identifier') return this.#find(scope, name.name);
    const left = this.#findQualified(scope, name.left);
    if (left === undefined) return undefined;
    if (left.nodes.length === 0) return this.#find(left.scope, name.right.name);
    for (const node of left.nodes.filter(({ type }) => type === 'TSModuleDeclaration')) {
      const inner = this.#newScope(left.scope.file, left.scope.source, left.scope);
      for (const each of node.body.body) declare(inner, each);
      const found = inner.names.get(name.right.name);
      if (found !== undefined) return { nodes: found, scope: inner };
    }
    return undefined;
  }

  #shapeOfDeclared({ nodes, scope }: Declared, name: string, given: readonly Shape[]): Shape {
    const node = nodes.find(({ type }) => TYPE_DECLARATIONS.has(type));
    switch (node?.type) {
      case 'TSInterfaceDeclaration':
      case 'ClassDeclaration':
        return this.#objectOf(node, scope, name);
      case 'TSTypeAliasDeclaration':
        return this.#shapeOfAlias(node, scope, name, given);
      case 'TSEnumDeclaration':
        return unionOf(
          (node.body ?? node).members.map(({ initializer }: Node) => literal(initializer.value)),
        );
    }
    return UNKNOWN;
  }

  #shapeOfAlias(node: Node, scope: Scope, name: string, given: readonly Shape[]): Shape {
    const inner = withParameters(scope, node, given);
    if (node.typeAnnotation.type === 'TSTypeLiteral') {
      return this.#objectOf(node.typeAnnotation, inner, name);
    }
    // An alias that refers to itself outside an object: JSON values. Nothing is known about them.
    if (this.#reading.has(node)) return UNKNOWN;
    this.#reading.add(node);
    try {
      return this.#shapeOf(node.typeAnnotation, inner);
    } finally {
      this.#reading.delete(node);
    }
  }

  #objectOf(node: Node, scope: Scope, name: string | undefined): Shape {
    const known = this.#objects.get(node);
    if (known !== undefined) return known;
    const index = membersIn(node).find(({ type }: Node) => type === 'TSIndexSignature');
    if (index !== undefined && membersIn(node).length === 1) {
      return { kind: 'map', of: this.#shapeOf(index.typeAnnotation.typeAnnotation, scope) };
    }
    const read = () => this.#membersOf(node, scope);
    let members: readonly Member[] | undefined;
    const object: ObjectShape = {
      kind: 'object',
      name,
      isOpen: index !== undefined,
      get members() {
        members ??= read();
        return members;
      },
    };
    this.#objects.set(node, object);
    return object;
  }

  #membersOf(node: Node, scope: Scope): Member[] {
    const bases = [...(node.extends ?? []), ...(node.superClass ? [{ expression: node.superClass }] : [])];
    const members = new Map<string, Member>();
    for (const { expression, typeArguments } of bases) {
      const name = qualifiedName(expression);
      const base = this.#reference({ typeName: name, typeArguments }, scope);
      if (base.kind === 'object') for (const member of base.members) members.set(member.name, member);
    }
    for (const each of membersIn(node)) {
      if (each.type !== 'TSPropertySignature' && each.type !== 'PropertyDefinition') continue;
      const name = this.#wireName(each.key.name ?? each.key.value);
      const shape = this.#shapeOf(each.typeAnnotation?.typeAnnotation, scope);
      if (shape === NEVER) continue;
      // A member whose type contains `undefined` may be left out too, but AWS writes that of required ones.
      members.set(name, { name, isOptional: each.optional === true, shape, isHeader: isHeader(each, scope) });
    }
    return [...members.values()];
  }

  #shapeOf(node: Node, scope: Scope): Shape {
    switch (node?.type) {
      case 'TSStringKeyword':
      case 'TSTemplateLiteralType':
        return STRING;
      case 'TSNumberKeyword':
      case 'TSBigIntKeyword':
        return NUMBER;
      case 'TSBooleanKeyword':
        return BOOLEAN;
      case 'TSNullKeyword':
        return literal(null);
      case 'TSUndefinedKeyword':
      case 'TSNeverKeyword':
        return NEVER;
      case 'TSLiteralType':
        return node.literal.type === 'Literal' ? literal(node.literal.value) : UNKNOWN;
      case 'TSArrayType':
        return { kind: 'list', of: this.#shapeOf(node.elementType, scope) };
      case 'TSTupleType':
        return {
          kind: 'list',
          of: unionOf(node.elementTypes.map((each: Node) => this.#shapeOf(each, scope))),
        };
      case 'TSParenthesizedType':
        return this.#shapeOf(node.typeAnnotation, scope);
      case 'TSTypeOperator':
        return node.operator === 'readonly' ? this.#shapeOf(node.typeAnnotation, scope) : STRING;
      case 'TSUnionType':
        return unionOf(
          node.types
            .map((each: Node) => this.#shapeOf(each, scope))
            .filter((shape: Shape) => shape !== NEVER),
        );
      case 'TSIntersectionType':
        return intersectionOf(node.types.map((each: Node) => this.#shapeOf(each, scope)));
      case 'TSTypeLiteral':
        return this.#objectOf(node, scope, undefined);
      case 'TSTypeReference':
        return this.#reference(node, scope);
      case 'TSIndexedAccessType':
        return this.#indexed(node, scope);
      case 'TSTypeQuery':
        return this.#valuesOf(node, scope);
    }
    return UNKNOWN;
  }

  #reference(node: Node, scope: Scope): Shape {
    const written = textOf(node.typeName);
    // What an SDK reads of kinds that it does not know is no kind.
    if (/(^|\.)(Unknown|\$UnknownMember)$/.test(written)) return NEVER;
    const shapes = () =>
      (node.typeArguments?.params ?? []).map((each: Node): Shape => this.#shapeOf(each, scope)) as Shape[];
    const declared = this.#findQualified(scope, node.typeName);
    if (declared !== undefined && declared.nodes.length > 0 && !(written in ENUM_WRAPPERS)) {
      const [parameter] = declared.nodes;
      if (parameter.type === 'shape') return parameter.shape;
      return this.#shapeOfDeclared(declared, nameOf(written), node.typeArguments ? shapes() : []);
    }
    const [first = UNKNOWN, second = UNKNOWN] = shapes();
    switch (written) {
      case 'Array':
      case 'ReadonlyArray':
      case 'Iterable':
        return { kind: 'list', of: first };
      case 'Record':
        return { kind: 'map', of: second };
      case 'Omit':
      case 'Pick':
        return pickOf(first, second, written === 'Pick');
      case 'Partial':
        return withOptional(first, true);
      case 'Required':
        return withOptional(first, false);
      case 'Exclude':
      case 'NonNullable':
      case 'Readonly':
      case 'OpenEnum':
      case 'ClosedEnum':
        return first;
      case 'Uint8Array':
      case 'Date':
        return STRING;
    }
    return UNKNOWN;
  }

  /** `(typeof X)[keyof typeof X]`: the values of a constant. `T['member']`: the type of a member. */
  #indexed(node: Node, scope: Scope): Shape {
    const object = this.#shapeOf(node.objectType, scope);
    if (node.indexType.type === 'TSTypeOperator') return object;
    const name = node.indexType.literal?.value;
    const found =
      object.kind === 'object' ? object.members.find((member) => member.name === name) : undefined;
    return found?.shape ?? UNKNOWN;
  }

  /** The values that a declared constant lists. */
  #valuesOf(node: Node, scope: Scope): Shape {
    const declared = this.#findQualified(scope, node.exprName);
    const constant = declared?.nodes.find(({ type }) => type === 'VariableDeclarator');
    const annotation = constant?.id.typeAnnotation?.typeAnnotation;
    if (annotation?.type !== 'TSTypeLiteral') return UNKNOWN;
    return unionOf(
      annotation.members.map((each: Node) => this.#shapeOf(each.typeAnnotation?.typeAnnotation, scope)),
    );
  }
}

/** Nothing at all: the type of a member that must be absent. */
const NEVER: Shape = { kind: 'union', of: [] };

const TYPE_DECLARATIONS = new Set([
  'TSInterfaceDeclaration',
  'ClassDeclaration',
  'TSTypeAliasDeclaration',
  'TSEnumDeclaration',
]);

/** Names of types that a package declares itself although only their argument matters. */
const ENUM_WRAPPERS: Readonly<Record<string, true>> = { OpenEnum: true, ClosedEnum: true };

function declare(scope: Scope, statement: Node): void {
  const node = statement.declaration ?? statement;
  switch (node.type) {
    case 'ImportDeclaration':
      for (const each of node.specifiers) {
        const name = each.type === 'ImportNamespaceSpecifier' ? '*' : (each.imported?.name ?? 'default');
        scope.imports.set(each.local.name, { from: node.source.value, name });
      }
      return;
    case 'ExportAllDeclaration':
      if (node.exported === null) scope.starExports.push(node.source.value);
      return;
    case 'ExportNamedDeclaration':
      for (const { local, exported } of node.specifiers) {
        if (node.source === null || scope.names.has(exported.name)) continue;
        scope.imports.set(exported.name, { from: node.source.value, name: local.name });
      }
      return;
    case 'VariableDeclaration':
      for (const each of node.declarations) add(scope, each.id.name, each);
      return;
    default:
      if (node.id?.name !== undefined) add(scope, node.id.name, node);
  }
}

function add({ names }: Scope, name: string, node: Node): void {
  names.set(name, [...(names.get(name) ?? []), node]);
}

/** The scope of a generic alias, in which its parameters stand for what was given. */
function withParameters(scope: Scope, { typeParameters }: Node, given: readonly Shape[]): Scope {
  const parameters = typeParameters?.params ?? [];
  if (parameters.length === 0) return scope;
  const named = parameters.map((each: Node, index: number) => [
    each.name.name ?? each.name,
    [{ type: 'shape', shape: given[index] ?? UNKNOWN }],
  ]);
  return { ...scope, outer: scope, imports: new Map(), starExports: [], names: new Map(named) };
}

function membersIn(node: Node): Node[] {
  return node.body?.body ?? node.members ?? [];
}

function qualifiedName(node: Node): Node {
  if (node.type !== 'MemberExpression') return node;
  return { type: 'TSQualifiedName', left: qualifiedName(node.object), right: node.property };
}

function textOf(name: Node): string {
  return name.type === 'Identifier' ? name.name : `${textOf(name.left)}.${name.right.name}`;
}

/** The name without the namespace of its module, which is a matter of imports. */
function nameOf(written: string): string {
  return written.replace(/^[A-Za-z]*API\.|^Shared\./, '');
}

/** The file that an import leads to; undefined if it is of another package. */
function fileAt(importer: string, from: string): string | undefined {
  if (!from.startsWith('.')) return undefined;
  const path = resolve(dirname(importer), from).replace(/\.m?js$/, '');
  return [`${path}.d.ts`, join(path, 'index.d.ts')].find((file) => existsSync(file));
}

function intersectionOf(shapes: readonly Shape[]): Shape {
  const objects = shapes.filter((shape) => shape.kind === 'object');
  // `string & {}` keeps editors from dropping the literals beside it.
  const [plain = UNKNOWN] = shapes.filter(({ kind }) => kind !== 'object');
  if (plain.kind === 'string' || objects.length === 0) return plain;
  return { kind: 'object', name: undefined, members: objects.flatMap(({ members }) => members) };
}

function pickOf(shape: Shape, names: Shape, keeps: boolean): Shape {
  if (shape.kind !== 'object') return shape;
  const listed = new Set(alternativesOf(names).map((each) => (each.kind === 'literal' ? each.value : '')));
  const members = shape.members.filter(({ name }) => listed.has(name) === keeps);
  return { kind: 'object', name: `${shape.name}'`, members };
}

function withOptional(shape: Shape, isOptional: boolean): Shape {
  if (shape.kind !== 'object') return shape;
  return { ...shape, members: shape.members.map((member) => ({ ...member, isOptional })) };
}

/** The comment above a member says which parameters of an SDK's method are headers. */
function isHeader(node: Node, { source }: Scope): boolean {
  const before = source.slice(0, node.start);
  const comment = before.slice(before.lastIndexOf('/**'));
  return (
    /\*\/\s*$/.test(comment) &&
    comment.split('*/').length === 2 &&
    /^\/\*\*\s*\*\s*Header param:/.test(comment)
  );
}
