import { GatewayError } from '../../ir/errors.ts';
import { textBlock } from '../../ir/tool-result-block.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Log } from '../../kit/log/log.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import type { ServerTool, ToolContext, ToolSettings, WorkspaceFiles } from '../../tools/server-tool.ts';
import { SERVER_TOOLS } from '../../tools/table.ts';
import type { OfferedTool, ToolResult, ToolRun } from './offered-tool.ts';

export interface OwnToolDependencies extends Pick<ToolContext, 'egress' | 'files'> {
  readonly settings: (caller: Caller) => ToolSettings;
  readonly log: Pick<Log, 'warn'>;
  now(): number;
}

/** Parameters of tools that no request sets. */
const NO_PARAMETERS: JsonObject = {};

const TIMEOUT = 'the tool gave no result in its time';

/** The gateway's own tools that need no conversation and can run here. */
export function ownOffers(dependencies: OwnToolDependencies, caller: Caller): readonly OfferedTool[] {
  const settings = dependencies.settings(caller);
  return [...SERVER_TOOLS.values()]
    .filter((tool) => isOffered(tool, settings))
    .map((tool) => {
      const { description, parameters } = tool.declare(NO_PARAMETERS);
      return {
        name: tool.name,
        description,
        inputSchema: parameters,
        costsNothing: tool.costsNothing,
        run: (given, run) => runWithin(tool, given, run, contextOf(run, settings, caller, dependencies)),
      };
    });
}

function isOffered(tool: ServerTool, settings: ToolSettings): boolean {
  return tool.runsAlone?.(settings) === true && tool.unavailable?.(NO_PARAMETERS, settings) === undefined;
}

function contextOf(
  { generationId, signal, request, charge, note }: ToolRun,
  settings: ToolSettings,
  caller: Caller,
  { egress, files, log, now }: OwnToolDependencies,
): ToolContext {
  return {
    generationId,
    settings,
    caller,
    workspace: caller.workspace,
    egress,
    files: downloadsOf(files),
    signal,
    request,
    endpoint: undefined,
    log,
    now,
    charge,
    note,
    leg: () => Promise.reject(new Error('a tool for MCP clients must not call models')),
    tell: () => {},
    showStep: () => {},
  };
}

/** Files for a caller who gets their content itself, and not through a model. */
function downloadsOf(files: WorkspaceFiles): WorkspaceFiles {
  return {
    list: (caller, page) => files.list(caller, page),
    make: (caller, filename, content) => files.make(caller, filename, content),
    read: (caller, id) => files.read(caller, id, { isDownload: true }),
  };
}

/** Runs a tool within the time of one. Rejects with the reason of the caller's signal, or if it cannot be paid. */
async function runWithin(
  tool: ServerTool,
  given: JsonObject,
  { generationId, signal }: ToolRun,
  context: ToolContext,
): Promise<ToolResult> {
  const { toolMs, resultCharacters } = context.settings.web.limits;
  const late = AbortSignal.timeout(toolMs);
  const both = AbortSignal.any([signal, late]);
  const aborted = new Promise<never>((_, reject) => {
    both.addEventListener('abort', () => reject(both.reason), { once: true });
  });
  // Prevents an unhandled rejection; the race below rethrows it.
  aborted.catch(() => {});
  try {
    signal.throwIfAborted();
    const call = {
      callId: generationId,
      arguments: given,
      parameters: NO_PARAMETERS,
      uses: 0,
      claimResults: Math.min,
    };
    const running = tool.run(call, { ...context, signal: both });
    const { output, isFailed = false } = await Promise.race([running, aborted]);
    return { blocks: [textBlock(output.slice(0, resultCharacters))], isError: isFailed };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof GatewayError && error.kind === 'payment') throw error;
    if (late.aborted) return { blocks: [textBlock(TIMEOUT)], isError: true };
    context.log.warn('a server tool failed', {
      tool: tool.name,
      generation_id: generationId,
      error: String(error),
    });
    return { blocks: [textBlock('the tool failed')], isError: true };
  }
}
