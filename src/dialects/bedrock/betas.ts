import type { JsonObject } from '../../kit/json/json.ts';
import type { RenderContext } from './render-context.ts';

/** Betas of the messages format that models of its maker are documented to take here too. */
const KNOWN: ReadonlySet<string> = new Set([
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'dev-full-thinking-2025-05-14',
  'effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'token-efficient-tools-2025-02-19',
  'tool-examples-2025-10-29',
  'tool-search-tool-2025-10-19',
]);

/** The header by which callers ask for betas, as reports name it. */
const HEADER = 'anthropic-beta';

/** The betas that the caller asked for, as a field for the model; one unknown name would fail the whole request. */
export function renderBetas({ target, family, report }: RenderContext): JsonObject {
  const asked = [...new Set(target.betas)];
  const isTaken = (beta: string) => family.hasBetas === true && KNOWN.has(beta);
  const lost = asked.filter((beta) => !isTaken(beta));
  if (lost.length > 0) report.dropped(HEADER, `the upstream does not take ${lost.join(', ')}`);
  const taken = asked.filter(isTaken);
  return taken.length === 0 ? {} : { anthropic_beta: taken };
}
