import type { Seal } from '../../ir/events.ts';
import type { ReasoningItem } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { CLAUDE_FORMAT } from '../shared/reasoning/claude-seals.ts';
import { visibleThoughts } from '../shared/reasoning/thoughts-as-text.ts';
import { BEDROCK_FORMAT, facts } from './facts.ts';

/**
 * Thoughts in both directions. Only models of Anthropic seal theirs here, and their seals are valid wherever these
 * models are served. So the seals are marked as Anthropic's, not as this dialect's: they may go to an upstream of the
 * messages dialect and come from there. Redacted thoughts are the same text in both; here it is base64-encoded once
 * more, as all bytes are.
 */

// --- From the wire --------------------------------------------------------------------------------------------------

export function sealOfSignature(signature: string): Seal {
  return { signature, format: CLAUDE_FORMAT };
}

/** The seal of redacted thoughts; `content` is base64. */
export function sealOfRedacted(content: string): Seal {
  const text = Buffer.from(content, 'base64').toString();
  return inBase64(text) === content
    ? { encrypted: text, format: CLAUDE_FORMAT }
    : { encrypted: content, format: BEDROCK_FORMAT };
}

// --- To the wire ----------------------------------------------------------------------------------------------------

/** The block of thoughts from an earlier turn; undefined if the model did not seal them and would refuse them. */
export function renderThoughts(item: ReasoningItem): JsonObject | undefined {
  const { signature = '', encrypted = '', format } = item;
  if (!facts.seals.ofThoughts(item)) return undefined;
  if (format === BEDROCK_FORMAT) return encrypted === '' ? undefined : redacted(encrypted);
  if (signature !== '') {
    return { reasoningContent: { reasoningText: { text: visibleThoughts(item), signature } } };
  }
  return encrypted === '' ? undefined : redacted(inBase64(encrypted));
}

function redacted(redactedContent: string): JsonObject {
  return { reasoningContent: { redactedContent } };
}

function inBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}
