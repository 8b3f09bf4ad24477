import { isJsonObject } from '../../kit/json/json.ts';
import {
  isPriceName,
  onePriceEach,
  perMillionDefinitions,
  pricePropertiesPerMillion,
  priceReference,
} from './file-prices.ts';
import { configSchema } from './schema.ts';
import { UNITS, type Unit } from './units.ts';

interface Node {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly patternProperties?: Readonly<Record<string, Node>> | undefined;
  readonly propertyNames?: Readonly<Record<string, unknown>>;
  readonly items?: Node;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly explain?: string;
  readonly unit?: Unit;
  readonly hasPrices?: true;
  /** Name under which the definitions have the node, once for all places that refer to it. */
  readonly definition?: string;
}

type JsonSchema = Record<string, unknown>;

const NULL = { type: 'null' };
const VARIABLE = reference('variable');

/** `${NAME}` anywhere in a text; `$${NAME}` stands for the text `${NAME}` itself. */
const VARIABLE_PATTERN = '(^|[^$])\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}';

/**
 * The JSON Schema of the configuration file as people write it, for editors: `configSchema`, which checks a file whose
 * variables, units, prices per million and defaults are filled in, turned back into what may be written. Wider than the
 * program only in what compares two places, and in quantities with a unit, whose amount it does not compute.
 */
export function configurationFileSchema(): JsonSchema {
  const definitions = new Map<string, JsonSchema>([
    [
      'variable',
      {
        description: `Read from the environment: \${NAME}.`,
        type: 'string',
        pattern: VARIABLE_PATTERN,
      },
    ],
    ...(Object.keys(UNITS) as Unit[]).map((unit) => [`with_unit_${unit}`, quantityText(unit)] as const),
    ...Object.entries(perMillionDefinitions(VARIABLE) as Record<string, JsonSchema>),
  ]);
  const { type: _object, ...root } = new FileSchema(definitions).object(configSchema as Node);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Signalbox configuration',
    description: 'signalbox.yaml, the configuration of a Signalbox gateway.',
    // A file whose lines are all comments is null.
    type: ['object', 'null'],
    ...root,
    $defs: Object.fromEntries(definitions),
  };
}

/** Converts nodes, and adds those that several places share to the definitions. */
class FileSchema {
  readonly #definitions: Map<string, JsonSchema>;

  constructor(definitions: Map<string, JsonSchema>) {
    this.#definitions = definitions;
  }

  #member(node: Node): JsonSchema {
    const branches = this.#branches(node);
    // Null counts as absent where there is a default.
    const isNullable = node.default !== undefined && !branches.some(({ type }) => type === 'null');
    return {
      ...(node.description !== undefined && { description: node.description }),
      ...(isShown(node.default) && { default: node.default }),
      ...oneOrAny(isNullable ? [...branches, NULL] : branches),
    };
  }

  #branches(node: Node): JsonSchema[] {
    if (node.anyOf !== undefined) return node.anyOf.flatMap((branch) => this.#branches(branch));
    if (node.unit !== undefined) return [quantity(node, node.unit)];
    if (node.definition !== undefined) return [this.#shared(node.definition, () => this.object(node))];
    if (node.properties ?? node.patternProperties) return [this.object(node)];
    if (node.items !== undefined) return [this.#list(node)];
    if (node.enum !== undefined) return [{ enum: node.enum }, VARIABLE];
    if (node.type !== 'string') return [plain(node)];
    const text = textSchema(node);
    const isAnyText = Object.keys(text).length === 1;
    return isAnyText ? [text] : [text, VARIABLE];
  }

  #list({ items = {}, minItems, maxItems }: Node): JsonSchema {
    return {
      type: 'array',
      items: this.#member(items),
      ...(minItems !== undefined && { minItems }),
      ...(maxItems !== undefined && { maxItems }),
    };
  }

  object(node: Node): JsonSchema {
    if (node.patternProperties !== undefined) return this.#record(node);
    const properties = node.properties ?? {};
    const required = (node.required ?? []).filter((name) => properties[name]?.default === undefined);
    const members = Object.entries(properties).map(([name, member]) => [
      name,
      node.hasPrices && isPriceName(name) ? this.#price(member, name) : this.#member(member),
    ]);
    return {
      type: 'object',
      properties: { ...Object.fromEntries(members), ...(node.hasPrices && pricePropertiesPerMillion()) },
      ...(required.length > 0 && { required }),
      additionalProperties: false,
      ...(node.hasPrices && { dependentSchemas: onePriceEach() }),
    };
  }

  /** An object with any names. */
  #record({ patternProperties = {}, propertyNames }: Node): JsonSchema {
    const [value = {}] = Object.values(patternProperties);
    return {
      type: 'object',
      ...(propertyNames !== undefined && { propertyNames: textSchema(propertyNames) }),
      additionalProperties: this.#member(value),
    };
  }

  #price(node: Node, name: string): JsonSchema {
    const { description, ...price } = this.#member(node);
    return { description, ...this.#shared(priceReference(name), () => price) };
  }

  #shared(name: string, make: () => JsonSchema): JsonSchema {
    if (!this.#definitions.has(name)) this.#definitions.set(name, make());
    return reference(name);
  }
}

function reference(name: string): JsonSchema {
  return { $ref: `#/$defs/${name}` };
}

/** The alternatives as one schema. A single one beside null becomes a list of types, which editors explain better. */
function oneOrAny(branches: readonly JsonSchema[]): JsonSchema {
  const others = branches.filter((branch) => branch !== NULL && branch.type !== 'null');
  const [only] = others;
  if (only === undefined || others.length > 1) return { anyOf: branches };
  if (branches.length === 1) return only;
  return only.type === undefined ? { anyOf: branches } : { ...only, type: [only.type, 'null'].flat() };
}

/** A section's default, an empty object, is nothing to show. */
function isShown(value: unknown): boolean {
  return value !== undefined && !(isJsonObject(value) && Object.keys(value).length === 0);
}

/** Numbers, booleans and null are written as the program checks them. */
function plain({ description, default: _default, unit, explain, ...node }: Node): JsonSchema {
  return { ...node };
}

function textSchema({
  description,
  default: _default,
  explain,
  explainPattern,
  ...node
}: Node & { explainPattern?: string }) {
  const words = explainPattern ?? explain;
  // `patternErrorMessage`: what the language server of YAML says of a text that does not match.
  return { ...node, ...(words !== undefined && node.pattern && { patternErrorMessage: words }) };
}

/** A number, or a text with a unit. Minimum and maximum hold for numbers, the pattern for texts. */
function quantity(node: Node, unit: Unit): JsonSchema {
  return { ...plain(node), type: ['integer', 'string'], ...reference(`with_unit_${unit}`) };
}

/** A number with a unit, or a variable. Without a unit, or in the smallest one, the number must be whole. */
function quantityText(unit: Unit): JsonSchema {
  const { factors, explain } = UNITS[unit];
  const words = Object.keys(factors).map(inAnyCase);
  const larger = Object.entries(factors).flatMap(([word, factor]) => (factor > 1n ? inAnyCase(word) : []));
  const whole = `\\d{1,18}(\\.0{1,9})?\\s*(${words.join('|')})?`;
  const fraction = `\\d{1,18}\\.\\d{1,9}\\s*(${larger.join('|')})`;
  return { pattern: `^\\s*(${whole}|${fraction})\\s*$|${VARIABLE_PATTERN}`, patternErrorMessage: explain };
}

function inAnyCase(word: string): string {
  return [...word].map((letter) => `[${letter}${letter.toUpperCase()}]`).join('');
}
