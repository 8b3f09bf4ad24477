import { createHash } from 'node:crypto';
import { EgressProblem } from '../../egress/egress-problem.ts';
import { removerOf, type SecretRemover } from '../../egress/secret-remover.ts';
import { isJsonObject, type JsonObject, readJson } from '../../kit/json/json.ts';
import { booleanAt, numberAt, objectAt, stringAt } from '../../kit/json/members.ts';
import type { ToolContext, ToolIssue, ToolSettings } from '../server-tool.ts';

/** Code for the sandbox. */
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

/** Runs code in the configured sandbox; a text says why that failed. */
export async function runCode(
  { language, code, timeoutMs }: SandboxCode,
  parameters: JsonObject,
  context: ToolContext,
): Promise<SandboxResult | string> {
  const { settings, egress, signal } = context;
  const { sandbox } = settings.tools;
  if (sandbox === undefined) return 'there is no sandbox';
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
    const reply = await egress.call(`${sandbox.url.replace(/\/+$/, '')}/run`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(sandbox.token !== undefined && { authorization: `Bearer ${sandbox.token}` }),
      },
      body: JSON.stringify(body),
      limits: { totalMs: toolMs, maxBytes: readBytes, maxRedirects: 0 },
      signal,
    });
    if (reply.isCut) return 'the output is too long';
    return (
      (reply.status === 200
        ? resultIn(reply.bytes, removerOf(sandbox.token === undefined ? [] : [sandbox.token]))
        : undefined) ?? 'the sandbox failed'
    );
  } catch (error) {
    if (error instanceof EgressProblem) return 'the sandbox cannot be reached';
    throw error;
  }
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
