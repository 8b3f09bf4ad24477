import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, stringsAt } from '../../kit/json/members.ts';
import { type ServerTool, toolFailure } from '../server-tool.ts';
import { SANDBOX_PARAMETERS } from './parameters.ts';
import { runCode, type SandboxResult, sandboxIssue } from './run-code.ts';

/** Commands of one call. */
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
    for (const code of commands) {
      const result = await runCode({ language: 'bash', code, timeoutMs }, parameters, context);
      if (typeof result === 'string') return toolFailure(result, { action, output });
      output.push(outputOf(result, most));
    }
    return { output: JSON.stringify({ output }), shown: { action, output } };
  },
};

function outputOf({ stdout, stderr, exitCode }: SandboxResult, most: number): JsonObject {
  return {
    stdout: stdout.slice(0, most),
    stderr: stderr.slice(0, most),
    outcome: exitCode === null ? { type: 'timeout' } : { type: 'exit', exit_code: exitCode },
  };
}
