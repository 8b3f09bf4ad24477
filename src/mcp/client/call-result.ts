import { type ToolResultBlock, textBlock } from '../../ir/tool-result-block.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { booleanAt, objectAt, objectsAt, stringAt } from '../../kit/json/members.ts';
import { cleared, type SecretRemover } from '../../kit/secrets/secret-remover.ts';

/** The result of `tools/call`. Models take its text, MCP clients its blocks: the secrets of each are removed once. */
export class CallResult {
  readonly #result: JsonObject;
  readonly #maxCharacters: number;
  readonly #withoutSecrets: SecretRemover;

  constructor(result: JsonObject, maxCharacters: number, withoutSecrets: SecretRemover) {
    this.#result = result;
    this.#maxCharacters = maxCharacters;
    this.#withoutSecrets = withoutSecrets;
  }

  get isError(): boolean {
    return booleanAt(this.#result, 'isError') === true;
  }

  /** The whole result as text: what the model gets and an `mcp_call` item shows. */
  text(): string {
    const blocks = objectsAt(this.#result, 'content').map(textOfBlock);
    const structured = objectAt(this.#result, 'structuredContent');
    const whole =
      blocks.length > 0 ? blocks.join('\n') : structured === undefined ? '' : JSON.stringify(structured);
    return this.#withoutSecrets.bounded(whole, this.#maxCharacters);
  }

  /** The result block by block, for clients that take more than text. */
  blocks(): readonly ToolResultBlock[] {
    return blocksOf(objectsAt(this.#result, 'content'), this.#maxCharacters, this.#withoutSecrets);
  }

  /** Undefined if there is none, or if it is longer than the limit. */
  structured(): JsonObject | undefined {
    const structured = objectAt(this.#result, 'structuredContent');
    return structuredWithin(structured, this.#maxCharacters, this.#withoutSecrets);
  }
}

/** The blocks with at most so many characters of text. Images and audio are bounded by the bytes of the reply. */
function blocksOf(
  content: readonly JsonObject[],
  maxCharacters: number,
  withoutSecrets: SecretRemover,
): ToolResultBlock[] {
  let left = maxCharacters;
  return content.flatMap((block): readonly ToolResultBlock[] => {
    const media = mediaOf(block, withoutSecrets);
    if (media !== undefined) return [media];
    if (left === 0) return [];
    const text = withoutSecrets.bounded(textOfBlock(block), left);
    left -= text.length;
    return [textBlock(text)];
  });
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const MEDIA_TYPE = /^(?:image|audio)\/[\w.+-]{1,64}$/;

/** An image or audio; undefined = the block is neither, or not as the protocol has it. */
function mediaOf(block: JsonObject, withoutSecrets: SecretRemover): ToolResultBlock | undefined {
  const { type } = block;
  if (type !== 'image' && type !== 'audio') return undefined;
  const data = stringAt(block, 'data') ?? '';
  const mimeType = stringAt(block, 'mimeType') ?? '';
  if (!BASE64.test(data) || !MEDIA_TYPE.test(mimeType) || withoutSecrets(data) !== data) return undefined;
  return { type, data, mimeType };
}

function structuredWithin(
  structured: JsonObject | undefined,
  maxCharacters: number,
  withoutSecrets: SecretRemover,
): JsonObject | undefined {
  if (structured === undefined || JSON.stringify(structured).length > maxCharacters) return undefined;
  return cleared(structured, withoutSecrets) as JsonObject;
}

/** Content that is no text is named, not passed on: an item of the format holds only text. */
function textOfBlock(block: JsonObject): string {
  switch (block.type) {
    case 'text':
      return stringAt(block, 'text') ?? '';
    case 'resource': {
      const resource = objectAt(block, 'resource');
      return stringAt(resource, 'text') ?? `[resource ${stringAt(resource, 'uri') ?? ''}, not text]`;
    }
    case 'resource_link':
      return `[resource ${stringAt(block, 'name') ?? ''}: ${stringAt(block, 'uri') ?? ''}]`;
    default:
      return `[${stringAt(block, 'type') ?? 'content'} ${stringAt(block, 'mimeType') ?? ''}, not text]`;
  }
}
