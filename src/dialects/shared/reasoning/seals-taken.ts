import { type ConversationForm, conversationForm } from '../../../ir/format-facts.ts';
import type { ToolCallItem } from '../../../ir/items.ts';
import type { Quirks } from '../../../ir/quirks.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import { familyOf, type Sealed } from './custody.ts';

/** Seals that the upstreams of a dialect get back byte for byte. */
export interface SealsTaken {
  /** Seals of thoughts. `quirks`: those of the provider. */
  ofThoughts(seal: Sealed, quirks?: Quirks): boolean;
  /** Seals of tool calls; absent = the dialect has no field for one. */
  ofCalls?(seal: Sealed): boolean;
}

/** Seals that an upstream of the chat dialect gave. */
export const isFromChat = ({ givenBy }: Sealed): boolean => givenBy === 'chat';

export const isFromGoogle = ({ format }: Sealed): boolean => familyOf(format) === 'google';

export const isFromAnthropic = ({ format }: Sealed): boolean => familyOf(format) === 'anthropic';

/** True if upstreams get the seal of a call back byte for byte. */
export function takesCallSeal(
  { ofCalls }: SealsTaken,
  call: ToolCallItem,
  { formatFacts }: Pick<GenerationRequest, 'formatFacts'>,
): boolean {
  return ofCalls?.(sealOfCall(call, conversationForm(formatFacts))) === true;
}

function sealOfCall(
  { signature, signatureFormat, signatureGivenBy: givenBy }: ToolCallItem,
  { seals }: ConversationForm,
): Sealed {
  const isNameless = signatureFormat === undefined && givenBy === undefined;
  return { signature, format: isNameless ? seals.callSealFormat : signatureFormat, givenBy };
}
