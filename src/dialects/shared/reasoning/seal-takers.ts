import type { DialectName, Format, ToolCallItem } from '../../../ir/items.ts';
import { familyOf, type Sealed } from './custody.ts';

/** A format of one place alone: what is sealed in it can be read there only. */
export const BEDROCK_FORMAT = 'amazon-bedrock-v1';

const isFromChat = ({ givenBy }: Sealed) => givenBy === 'chat';
const isFromGoogle = ({ format }: Sealed) => familyOf(format) === 'google';
const isFromAnthropic = ({ format }: Sealed) => familyOf(format) === 'anthropic';

/** Which seals of thoughts upstreams of a dialect get back byte for byte. */
const THOUGHTS: Readonly<Record<DialectName, (seal: Sealed) => boolean>> = {
  responses: ({ encrypted, format }) => encrypted !== undefined && familyOf(format) === 'openai',
  messages: isFromAnthropic,
  bedrock: (seal) => isFromAnthropic(seal) || seal.format === BEDROCK_FORMAT,
  gemini: isFromGoogle,
  chat: isFromChat,
};

/** Which seals of tool calls; dialects that are not here have no place for one. */
const CALLS: Readonly<Partial<Record<DialectName, (seal: Sealed) => boolean>>> = {
  gemini: isFromGoogle,
  chat: isFromChat,
};

/** Whether upstreams of a dialect get the seal of thoughts back byte for byte. */
export function takesThoughts(dialect: DialectName, seal: Sealed): boolean {
  return THOUGHTS[dialect](seal);
}

/** Whether upstreams of a dialect get the seal of a tool call back byte for byte. `format`: of the request it stands in. */
export function takesCall(dialect: DialectName, call: ToolCallItem, format: Format): boolean {
  return CALLS[dialect]?.(sealOfCall(call, format)) === true;
}

function sealOfCall(
  { signature, signatureFormat, signatureGivenBy: givenBy }: ToolCallItem,
  format: Format,
): Sealed {
  // The responses format has no field for who minted it; what any other upstream gave is wrapped there, and says so.
  const isNameless = signatureFormat === undefined && givenBy === undefined && format === 'responses';
  return { signature, format: isNameless ? 'google-gemini-v1' : signatureFormat, givenBy };
}
