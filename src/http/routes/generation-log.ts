import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import {
  type GenerationsQuery,
  generationsQuerySchema,
  generationsReplySchema,
  LOG_COLUMN_NAMES,
  type LoggedGenerationObject,
} from '../../contract/generations/generation-log.ts';
import { viewerOf } from '../../endpoints/generation-log.ts';
import { csvLine, plainNumber } from '../../kit/text/csv.ts';
import { type Call, type Route, route } from '../route.ts';
import {
  ANALYTICS_WARNING_HEADER,
  analyticsWarning,
  errors,
  NOTHING_DECLARED,
  ok,
  READ,
} from './row-parts.ts';
import { withinQueryTime } from './within-query-time.ts';

const LOG = { ...READ, tag: 'Generations', rateClass: 'management' } as const;

export const GENERATION_LOG_ROUTES: readonly Route[] = [
  route({
    ...LOG,
    path: '/generations',
    operationId: 'listGenerations',
    summary: 'The log of generations: newest first, filtered, page by page or as an export',
    permission: 'generations.read',
    request: { ...NOTHING_DECLARED, query: generationsQuerySchema },
    responseHeaders: ANALYTICS_WARNING_HEADER,
    responses: {
      200: ok(generationsReplySchema),
      ...errors(errorEnvelopeSchema, [400, 401, 408, 500, 503]),
    },
    handler: async (call) => {
      const query = call.query;
      const format = EXPORTS[query.format ?? 'json'];
      if (format !== undefined) return exportRows(call, query, format);
      const headers = analyticsWarning(call);
      const page = await withinQueryTime(call, (signal) =>
        call.services.generationLog.list(viewerOf(call.caller), query, signal),
      );
      call.exchange.reply.json(200, page, headers());
    },
  }),
];

interface ExportFormat {
  readonly contentType: string;
  readonly extension: string;
  /** The first line; empty = none. */
  readonly head: string;
  readonly line: (row: LoggedGenerationObject) => string;
}

const EXPORTS: Readonly<Record<string, ExportFormat>> = {
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    extension: 'ndjson',
    head: '',
    line: (row) => `${withPlainAmounts(JSON.stringify(row))}\n`,
  },
  csv: {
    contentType: 'text/csv; charset=utf-8',
    extension: 'csv',
    head: csvLine(LOG_COLUMN_NAMES),
    line: (row) => csvLine(LOG_COLUMN_NAMES.map((name) => row[name])),
  },
};

/** Amounts below a millionth of a dollar without an exponent. Inside texts quotes are escaped, so none matches. */
function withPlainAmounts(json: string): string {
  return json.replace(
    /("(?:byok_)?cost":)([\d.]+e-\d+)/g,
    (_, name: string, amount: string) => name + plainNumber(Number(amount)),
  );
}

/** Writes rows as they are read; a slow reader holds up the reading. */
async function exportRows(
  call: Pick<Call<'generations.read'>, 'caller' | 'exchange' | 'services'>,
  query: GenerationsQuery,
  { contentType, extension, head, line }: ExportFormat,
): Promise<void> {
  const { reply, signal } = call.exchange;
  const parts = call.services.generationLog.export(viewerOf(call.caller), query, signal);
  // The first part is read before the head is written: a refusal still has its own status.
  let part = await parts.next();
  reply.beginDownload(contentType, `generations.${extension}`);
  let text = head;
  while (part.done !== true && !reply.gone && !signal.aborted) {
    text += part.value.map(line).join('');
    if (!reply.send(text)) await reply.drained(signal);
    text = '';
    part = await parts.next();
  }
  reply.end(text);
}
