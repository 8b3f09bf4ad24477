import { GatewayError } from '../../ir/errors.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, stringsAt } from '../../kit/json/members.ts';
import { type ServerTool, toolFailure } from '../server-tool.ts';
import { SANDBOX_PARAMETERS } from './parameters.ts';
import { type PaidRun, runCode, type SandboxResult, sandboxIssue } from './run-code.ts';

const MAX_COMMANDS = 16;

/** Runs commands in the sandbox, one after the other. */
export const shell: ServerTool = {
  name: 'shell',
  hostedTypes: /^shell$/,
  ofHosted: (hosted, { tools: { sandbox } }) => {
    const environment = objectAt(hosted, 'environment');
    // A local environment is the machine of the caller.
    if (sandbox === undefined || environment?.type === 'local') return undefined;
    return environment === undefined ? {} : { environment };
  },
  hostedMembers: { environment: { type: true, container_id: true } },
  parameters: SANDBOX_PARAMETERS,
  unavailable: sandboxIssue,
  runsAlone: () => true,
  declare: () => ({
    description:
      'Runs commands of bash, one after the other, in a sandbox that keeps its files between calls.',
    parameters: {
      type: 'object',
      properties: {
        commands: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: MAX_COMMANDS },
        timeout_ms: { type: 'integer', minimum: 1, description: 'Time of each command' },
        max_output_length: { type: 'integer', minimum: 1, description: 'Characters of each output' },
      },
      required: ['commands'],
    },
  }),
  async run({ arguments: asked, parameters }, context) {
    const commands = stringsAt(asked, 'commands') ?? [];
    const timeoutMs = numberAt(asked, 'timeout_ms');
    const most = numberAt(asked, 'max_output_length') ?? Number.POSITIVE_INFINITY;
    const action = { ...asked, commands } as JsonObject;
    const output: JsonObject[] = [];
    let nanos = 0n;
    for (const code of commands) {
      const run = await runCode({ language: 'bash', code, timeoutMs }, parameters, context).catch(
        (error: unknown): PaidRun => {
          // Commands before this one have run.
          if (output.length === 0 || !(error instanceof GatewayError)) throw error;
          return { result: error.message, nanos: 0n };
        },
      );
      nanos += run.nanos;
      if (typeof run.result === 'string') return { ...toolFailure(run.result, { action, output }), nanos };
      output.push(outputOf(run.result, most));
    }
    return { output: JSON.stringify({ output }), shown: { action, output }, nanos };
  },
};

function outputOf({ stdout, stderr, exitCode }: SandboxResult, most: number): JsonObject {
  return {
    stdout: stdout.slice(0, most),
    stderr: stderr.slice(0, most),
    outcome: exitCode === null ? { type: 'timeout' } : { type: 'exit', exit_code: exitCode },
  };
}
