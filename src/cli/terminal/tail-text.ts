import type { DroppedLine, TailedLine } from '../../control/tail.ts';
import { paint, shortId } from '../../kit/log/readable-line.ts';
import { oneLine } from '../../kit/log/redact-fields.ts';
import { countText } from '../../kit/text/count-text.ts';
import { usdText } from '../../kit/text/usd-text.ts';

interface TailedAttempt {
  readonly endpoint: string;
  readonly status: number | null;
  readonly duration_ms: number;
  readonly error_kind: string | null;
  readonly upstream_code: string | null;
  readonly errno: string | null;
  readonly provider_message?: string;
}

interface ShownGeneration extends TailedLine {
  readonly time: string;
  readonly end: 'finished' | 'aborted' | 'refused' | 'failed';
  readonly id: string;
  readonly endpoint?: string;
  readonly duration_ms: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly key: string;
  readonly status?: number;
  readonly error_kind?: string;
  readonly reason?: string;
  readonly attempt_log?: readonly TailedAttempt[];
  readonly rescued?: readonly TailedAttempt[];
}

/** How lines are written: for people at a terminal, or for a pipe. */
export interface TailStyle {
  readonly hasColours: boolean;
  /** False = whole ids, which `GET /generation` takes. */
  readonly hasShortIds: boolean;
}

const PIECES = { finished: 'info', aborted: 'debug', refused: 'plain', failed: 'error' } as const;

/** One line for a generation: when, how it ended, where, how much, and why it failed. */
export function tailText(line: TailedLine | DroppedLine, { hasColours, hasShortIds }: TailStyle): string {
  if ('dropped' in line)
    return `(${countText(line.dropped, 'generation is', 'generations are')} left out: this reader is too slow)\n`;
  // Lines of a gateway have all members.
  const generation = line as ShownGeneration;
  const { time, end, id, model, endpoint, duration_ms, key } = generation;
  const parts = [
    paint(time.slice(11, 23), 'faint', hasColours),
    paint(end.padEnd(8), PIECES[end], hasColours),
    hasShortIds ? shortId(id) : id,
    endpoint === undefined ? model : `${model} at ${endpoint}`,
    `${duration_ms} ms`,
    end === 'failed' || end === 'refused' ? failureText(generation) : usageText(generation),
    `key ${key}`,
    ...attemptsText(generation),
  ];
  return `${parts.map((part) => (part.includes('\u001b[') ? part : oneLine(part))).join('  ')}\n`;
}

function usageText({ input_tokens, output_tokens, cost_usd }: ShownGeneration): string {
  return `${input_tokens} + ${output_tokens} tokens, ${usdText(cost_usd)} USD`;
}

function failureText({ status, error_kind, reason }: ShownGeneration): string {
  return [status, error_kind, reason === undefined ? undefined : `"${reason}"`]
    .filter((part) => part !== undefined)
    .join(' ');
}

function attemptsText({ attempt_log = [], rescued = [] }: ShownGeneration): string[] {
  if (rescued.length > 0) return [`rescued from ${rescued.map(attemptText).join(', ')}`];
  return attempt_log.length > 0 ? [`tried ${attempt_log.map(attemptText).join(', ')}`] : [];
}

function attemptText({
  endpoint,
  status,
  duration_ms,
  upstream_code,
  errno,
  error_kind,
  provider_message: said,
}: TailedAttempt): string {
  const reason = errno ?? upstream_code ?? error_kind;
  return [
    endpoint,
    status ?? 'no answer',
    reason,
    `${duration_ms} ms`,
    said === undefined ? null : `"${said}"`,
  ]
    .filter((part) => part !== null)
    .join(' ');
}
