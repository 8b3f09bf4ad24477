import { GenerationIds } from '../../ir/trace.ts';
import { isJsonObject, type JsonObject, readJson } from '../../kit/json/json.ts';
import { stringAt, textAt } from '../../kit/json/members.ts';
import type { ExportLogsServiceRequest, LogRecord } from '../otlp/messages.ts';
import { keyValues, unixNano } from '../otlp/values.ts';
import type { TelemetrySource } from './telemetry-source.ts';

const SEVERITIES: Readonly<Record<string, number>> = { debug: 5, info: 9, warn: 13, error: 17 };

const UNKNOWN = { severityNumber: 0, severityText: '', timeUnixNano: '0' };

/** Lines that are encoded in one slice: about a millisecond of work. */
const LINES_TOGETHER = 64;

export function* logsRequests(
  lines: readonly string[],
  { resource, scope }: TelemetrySource,
  nowMs: number,
): Generator<ExportLogsServiceRequest> {
  const observedTimeUnixNano = unixNano(nowMs);
  for (let first = 0; first < lines.length; first += LINES_TOGETHER) {
    const some = lines.slice(first, first + LINES_TOGETHER);
    const logRecords = some.map((line) => logRecord(line, observedTimeUnixNano));
    yield { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords }] }] };
  }
}

/** A line that is no JSON, such as the last words of a process, is sent as it is. */
function logRecord(line: string, observedTimeUnixNano: string): LogRecord {
  const reading = readJson(line);
  if (!reading.ok || !isJsonObject(reading.value)) {
    return { ...UNKNOWN, observedTimeUnixNano, body: { stringValue: withoutColours(line) } };
  }
  const { time, level, message, ...fields } = reading.value;
  const moment = Date.parse(String(time));
  return {
    timeUnixNano: Number.isNaN(moment) ? UNKNOWN.timeUnixNano : unixNano(moment),
    observedTimeUnixNano,
    severityNumber: SEVERITIES[String(level)] ?? UNKNOWN.severityNumber,
    severityText: String(level ?? ''),
    body: { stringValue: String(message ?? '') },
    attributes: keyValues(fields),
    ...spanOf(fields),
  };
}

/** The span of the generation that a line sums up. Other lines about a generation do not say which trace it is in. */
function spanOf(fields: JsonObject): Pick<LogRecord, 'traceId' | 'spanId'> {
  const id = textAt(fields, 'id');
  if (id === undefined || stringAt(fields, 'outcome') === undefined || !id.startsWith('gen-')) return {};
  const ids = new GenerationIds(id);
  return { traceId: textAt(fields, 'trace_id') ?? ids.ownTraceId, spanId: ids.root };
}

function withoutColours(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
  return line.replace(/\u001b\[[\d;]*m/g, '');
}
