import type { JsonObject } from '../../kit/json.ts';
import { objectAt } from '../../kit/members.ts';
import type { Report } from '../report.ts';

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
  if (body.tools !== undefined && !supported.has('tools')) {
    delete body.tool_choice;
    delete body.parallel_tool_calls;
  }
  dropFrom(body, PARAMETERS, '', supported, report);
  const text = objectAt(body, 'text');
  if (text === undefined) return;
  const { format, ...rest } = text;
  // Plain text is what every endpoint answers in.
  const isPlain = objectAt(text, 'format')?.type === 'text';
  const kept = isPlain ? rest : { ...text };
  dropFrom(kept, TEXT_PARAMETERS, 'text.', supported, report);
  if (isPlain) kept.format = format;
  if (Object.keys(kept).length > 0) body.text = kept;
  else delete body.text;
}

function dropFrom(
  object: JsonObject,
  rows: typeof PARAMETERS,
  prefix: string,
  supported: ReadonlySet<string>,
  report: Report,
): void {
  for (const [field, names] of Object.entries(rows)) {
    if (object[field] === undefined || names.some((name) => supported.has(name))) continue;
    delete object[field];
    report.dropped(`${prefix}${field}`, 'the endpoint does not take this parameter');
  }
}
