import { type ToolResultBlock, textBlock } from '../../ir/tool-result-block.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { booleanAt, objectAt, objectsAt, stringAt } from '../../kit/json/members.ts';
import { cleared, type SecretRemover } from './remote-server.ts';

/** The result of a call. */
export interface CallResult {
  /** The whole result as text, for models. */
  readonly text: string;
  /** The result block by block, for clients that take more than text. */
  readonly blocks: readonly ToolResultBlock[];
  /** Undefined if there is none, or if it is longer than the limit. */
  readonly structured: JsonObject | undefined;
  readonly isError: boolean;
  /** The text is longer than the limit and was cut. */
  readonly isCut: boolean;
}

/** The result of `tools/call`. As text, it is what the model gets and an `mcp_call` item shows. */
export function readCallResult(
  result: JsonObject,
  maxCharacters: number,
  withoutSecrets: SecretRemover,
): CallResult {
  const blocks = objectsAt(result, 'content').map(textOfBlock);
  const structured = objectAt(result, 'structuredContent');
  const whole =
    blocks.length > 0 ? blocks.join('\n') : structured === undefined ? '' : JSON.stringify(structured);
  const text = withoutSecrets.bounded(whole, maxCharacters);
  return {
    text,
    blocks: blocksOf(objectsAt(result, 'content'), maxCharacters, withoutSecrets),
    structured: structuredWithin(structured, maxCharacters, withoutSecrets),
    isError: booleanAt(result, 'isError') === true,
    isCut: whole.length > maxCharacters,
  };
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
