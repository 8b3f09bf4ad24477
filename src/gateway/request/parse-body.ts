import type { InboundDialect, ParseContext } from '../../dialects/dialect.ts';
import { refuseManyPieces } from '../../dialects/shared/requests/request-pieces.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';

/**
 * Parses a body that a caller, or a preset, wrote; throws 400 if it has more pieces than one request may. Only such
 * bodies are bounded: rendering may make more pieces of them, and the simulator parses what was rendered.
 */
export function parseBody(
  body: JsonObject,
  { pieceLists, parseRequest }: Pick<InboundDialect, 'pieceLists' | 'parseRequest'>,
  context: ParseContext,
): GenerationRequest {
  refuseManyPieces(body, pieceLists);
  return parseRequest(body, context);
}
