import { createHash } from 'node:crypto';
import { GatewayError } from '../../ir/errors.ts';
import { isJsonObject, type JsonObject, readJson } from '../../kit/json/json.ts';
import { booleanAt, numberAt, objectAt, stringAt } from '../../kit/json/members.ts';
import type { Nanos } from '../../kit/money.ts';
import { removerOf, type SecretRemover } from '../../kit/secrets/secret-remover.ts';
import type { EgressReply } from '../../net/egress/egress.ts';
import { EgressProblem, mayBeBilled } from '../../net/egress/egress-problem.ts';
import type { SandboxSettings, ToolContext, ToolIssue, ToolSettings } from '../server-tool.ts';

export interface SandboxCode {
  readonly language: 'bash' | 'python';
  readonly code: string;
  /** Milliseconds; absent = as long as a tool may take. */
  readonly timeoutMs?: number | undefined;
}

export interface SandboxResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Null if the time was over. */
  readonly exitCode: number | null;
}

/** A run that was paid for. `result`: a text says why it failed. */
export interface PaidRun {
  readonly result: SandboxResult | string;
  readonly nanos: Nanos;
}

/** Seconds for which a session is kept after its last use. */
const DEFAULT_KEPT_SECONDS = 900;

/** Time for the way to the sandbox and back, beside that of the code. */
const WAY_MS = 500;

/** The reason why no code can be run: the gateway itself never runs any. */
export function sandboxIssue({ engine }: JsonObject, { tools, vendor }: ToolSettings): ToolIssue | undefined {
  if (tools.sandbox === undefined) {
    return { message: 'needs a sandbox, and none is configured (tools.sandbox)' };
  }
  if (engine === undefined || engine === 'auto' || engine === vendor) return undefined;
  return { path: 'parameters.engine', message: `must be auto or ${vendor}` };
}

/**
 * Pays for a run and runs code in the configured sandbox. A run that cannot have begun costs nothing. Rejects with 402
 * if the limits do not leave so much.
 */
export async function runCode(
  code: SandboxCode,
  parameters: JsonObject,
  context: ToolContext,
): Promise<PaidRun> {
  const { sandbox } = context.settings.tools;
  if (sandbox === undefined) return { result: 'there is no sandbox', nanos: 0n };
  const { runNanos: nanos } = sandbox;
  const paid = nanos === 0n ? undefined : await context.charge('tool', nanos);
  if (nanos > 0n && paid === undefined) {
    throw new GatewayError('payment', 'What is left of the limits does not pay for a run of the sandbox');
  }
  const reply = await replyTo(code, parameters, sandbox, context);
  const isReply = !(reply instanceof EgressProblem);
  const isBilled = mayBeBilled(isReply ? reply.status : reply);
  if (!isBilled) await paid?.waive();
  const withoutSecrets = removerOf(sandbox.token === undefined ? [] : [sandbox.token]);
  const result = isReply ? resultOf(reply, withoutSecrets) : 'the sandbox cannot be reached';
  return { result, nanos: isBilled ? nanos : 0n };
}

async function replyTo(
  { language, code, timeoutMs }: SandboxCode,
  parameters: JsonObject,
  { url, token }: SandboxSettings,
  context: ToolContext,
): Promise<EgressReply | EgressProblem> {
  const { settings, egress, signal } = context;
  const { toolMs, readBytes } = settings.web.limits;
  const most = Math.max(1, toolMs - WAY_MS);
  const body = {
    session_id: sessionOf(parameters, context),
    language,
    code,
    timeout_ms: Math.min(timeoutMs ?? most, most),
    keep_seconds: numberAt(parameters, 'sleep_after_seconds') ?? DEFAULT_KEPT_SECONDS,
  };
  try {
    return await egress.call(`${url.replace(/\/+$/, '')}/run`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      limits: { totalMs: toolMs, maxBytes: readBytes, maxRedirects: 0 },
      signal,
    });
  } catch (error) {
    if (!(error instanceof EgressProblem)) throw error;
    return error;
  }
}

function resultOf({ status, isCut, bytes }: EgressReply, withoutSecrets: SecretRemover): PaidRun['result'] {
  if (status === 200 && isCut) return 'the output is too long';
  return (status === 200 ? resultIn(bytes, withoutSecrets) : undefined) ?? 'the sandbox failed';
}

/** The sandbox may repeat its token: no model and no caller gets it. */
function resultIn(bytes: Buffer, withoutSecrets: SecretRemover): SandboxResult | undefined {
  const reading = readJson(bytes.toString('utf8'));
  if (!reading.ok || !isJsonObject(reading.value)) return undefined;
  const { value } = reading;
  const exitCode = numberAt(value, 'exit_code');
  const isTimedOut = booleanAt(value, 'timed_out') === true;
  if (exitCode === undefined && !isTimedOut) return undefined;
  return {
    stdout: withoutSecrets(stringAt(value, 'stdout') ?? ''),
    stderr: withoutSecrets(stringAt(value, 'stderr') ?? ''),
    exitCode: isTimedOut ? null : (exitCode ?? null),
  };
}

/**
 * The session in which code runs: that of the container which the request names, of its `session_id`, or of the
 * generation. Sessions of two workspaces are never the same.
 */
export function sessionOf(
  parameters: JsonObject,
  { workspace, request, generationId }: Pick<ToolContext, 'workspace' | 'request' | 'generationId'>,
): string {
  const named = stringAt(objectAt(parameters, 'environment'), 'container_id');
  const session = named ?? request.wishes.sessionId ?? generationId;
  return createHash('sha256').update(`${workspace.id}\n${session}`).digest('base64url');
}
