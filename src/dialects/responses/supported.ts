import type { JsonObject } from '../../kit/json.ts';
import type { Report } from '../report.ts';
import { objectAt } from './members.ts';

/** Fields of a body and the parameters, any of which an endpoint must list to be sent the field. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  temperature: ['temperature'],
  top_p: ['top_p'],
  top_k: ['top_k'],
  frequency_penalty: ['frequency_penalty'],
  presence_penalty: ['presence_penalty'],
  top_logprobs: ['top_logprobs'],
  tools: ['tools'],
  tool_choice: ['tool_choice'],
  parallel_tool_calls: ['parallel_tool_calls', 'tools'],
  reasoning: ['reasoning', 'include_reasoning'],
};

/** The same for members of `text`. */
const TEXT_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  format: ['response_format', 'structured_outputs'],
  verbosity: ['verbosity'],
};

/**
 * Removes from `body` the parameters that the endpoint does not take. The output limit always stays: without it an
 * answer could cost more than the caller allowed.
 */
export function dropUnsupported(
  body: JsonObject,
  supported: ReadonlySet<string> | undefined,
  report: Report,
): void {
  if (supported === undefined) return;
  const drop = (object: JsonObject, rows: typeof PARAMETERS, prefix: string) => {
    for (const [field, names] of Object.entries(rows)) {
      if (object[field] === undefined || names.some((name) => supported.has(name))) continue;
      delete object[field];
      report.dropped(`${prefix}${field}`, 'the endpoint does not take this parameter');
    }
  };
  if (body.tools === undefined || !supported.has('tools')) {
    if (body.tool_choice === 'auto' || body.tool_choice === 'none') delete body.tool_choice;
  }
  drop(body, PARAMETERS, '');
  const text = objectAt(body, 'text');
  if (text === undefined) return;
  const kept = { ...text };
  if (objectAt(kept, 'format')?.type !== 'text') drop(kept, TEXT_PARAMETERS, 'text.');
  if (Object.keys(kept).length > 0) body.text = kept;
  else delete body.text;
}
