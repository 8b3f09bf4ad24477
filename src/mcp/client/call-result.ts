import type { JsonObject } from '../../kit/json/json.ts';
import { booleanAt, objectAt, objectsAt, stringAt } from '../../kit/json/members.ts';
import type { SecretRemover } from './remote-server.ts';

/** The result of a call, as text. */
export interface CallResult {
  readonly text: string;
  readonly isError: boolean;
  /** The text is longer than the limit and was cut. */
  readonly isCut: boolean;
}

/** The result of `tools/call` as text: what the model gets and an `mcp_call` item shows. */
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
    isError: booleanAt(result, 'isError') === true,
    isCut: whole.length > maxCharacters,
  };
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
