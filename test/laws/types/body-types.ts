import type { DialectName } from '../../../src/ir/items.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { faultIn } from './conform.ts';
import { BODIES, type PublishedTypes } from './published.ts';
import { type ObjectShape, type Shape, UNKNOWN, unionOf } from './shape.ts';

/** Where APIs take something else than their types say. */
export interface Tolerated {
  /** A sentence for the page. */
  readonly reason: string;
  /** `Type.member`: may be missing, unknown to the type, or of another value. */
  readonly members: readonly string[];
}

export const TOLERATED: readonly Tolerated[] = [
  {
    reason: 'The API of OpenAI takes items of history without ids and states, which only it can give.',
    members: [
      'ResponseOutputMessage.id',
      'ResponseOutputMessage.status',
      'ResponseOutputText.annotations',
      'ResponseReasoningItem.id',
      'ResponseInputItem.ImageGenerationCall.status',
      'ResponseInputItem.LocalShellCall.id',
      'ResponseInputItem.LocalShellCallOutput.id',
    ],
  },
  {
    reason:
      'A caller that says `strict: null` means the default of the API, which is what happens without it.',
    members: ['FunctionTool.strict'],
  },
  {
    reason: 'Answers of the same API repeat these fields of requests, and servers of the dialect take them.',
    members: ['ResponseCreateParamsBase.frequency_penalty', 'ResponseCreateParamsBase.presence_penalty'],
  },
  {
    reason: 'The newest SDK leaves out what the newest models refuse; older models take it.',
    members: ['MessageCreateParamsBase.temperature', 'MessageCreateParamsBase.top_p'],
  },
  {
    reason: 'The API of Gemini takes the levels in small letters too.',
    members: ['ThinkingConfig.thinkingLevel'],
  },
  {
    reason: 'Images that a model made go back in the member in which chat servers give them.',
    members: ['ChatCompletionAssistantMessageParam.images'],
  },
];

const UNCHECKED: ReadonlySet<string> = new Set(TOLERATED.flatMap(({ members }) => members));

/** Checks bodies that go upstream against the types that the owner of the dialect publishes for them. */
export class BodyTypes {
  readonly #types: PublishedTypes;
  readonly #used = new Set<string>();
  readonly #checks = new Map<DialectName, (body: JsonObject) => string | undefined>();

  constructor(types: PublishedTypes) {
    this.#types = types;
  }

  /** What is tolerated and did not occur. */
  get unused(): string[] {
    return [...UNCHECKED].filter((member) => !this.#used.has(member));
  }

  /** Why the owner of a dialect would refuse a body, by its types; undefined = it would not. */
  checkOf(dialect: DialectName): (body: JsonObject) => string | undefined {
    const known = this.#checks.get(dialect);
    if (known !== undefined) return known;
    const shape = this.#shapeOf(dialect);
    const found = new Map<string, string | undefined>();
    const check = (body: JsonObject) => {
      const text = JSON.stringify({ ...body, model: '' });
      if (!found.has(text)) found.set(text, faultIn(body, shape, { members: UNCHECKED, used: this.#used }));
      return found.get(text);
    };
    this.#checks.set(dialect, check);
    return check;
  }

  #shapeOf(dialect: DialectName): Shape {
    const { roots, inPath, more, lists } = BODIES[dialect];
    const objects = roots.flatMap((root) => this.#types.objects(root));
    const named = Object.entries(more).map(([name, type]) => {
      const of = 'from' in type ? unionOf(this.#types.shapes(type)) : type;
      const shape: Shape = lists.includes(name) ? { kind: 'list', of } : of;
      return { name, isOptional: true, isHeader: false, shape };
    });
    const alternatives: ObjectShape[] = (objects.length > 0 ? objects : [EMPTY]).map((object) => ({
      ...object,
      members: [
        ...object.members.filter(({ name }) => !inPath.includes(name)),
        ...named,
        { name: 'stream', isOptional: true, isHeader: false, shape: UNKNOWN },
      ],
    }));
    return { kind: 'union', of: alternatives };
  }
}

const EMPTY: ObjectShape = { kind: 'object', name: undefined, members: [] };
