import Type from 'typebox';
import type { Json } from '../../kit/json/json.ts';
import { objectAt } from '../../kit/json/members.ts';
import { closed, nullish } from '../../kit/json/schema.ts';
import { type ServerTool, type ToolIssue, toolFailure } from '../server-tool.ts';
import { operationProblem } from './v4a.ts';

const DIFF = [
  'create_file: every line of the new file, each with + before it.',
  'update_file: sections of the file. A section may begin with a line of @@, or @@ and a line above the change,',
  'such as the head of a function. Its lines begin with a space (unchanged), - (removed) or + (added).',
  'Give three unchanged lines before and after a change.',
].join(' ');

/** Checks a change of a file, and hands it to the caller, who applies it. */
export const applyPatch: ServerTool = {
  name: 'apply_patch',
  formats: ['responses'],
  endsAnswer: true,
  hostedTypes: /^apply_patch$/,
  ofHosted: () => ({}),
  hostedMembers: {},
  native: { dialect: 'responses', value: { type: 'apply_patch' } },
  parameters: closed({ engine: nullish(Type.String()) }),
  unavailable: ({ engine }, { vendor }) => otherEngine(engine, ['auto', 'native', vendor]),
  declare: () => ({
    description:
      'Creates, changes or deletes one file of the user. The change is applied when your turn ends.',
    parameters: {
      type: 'object',
      properties: {
        operation: {
          type: 'object',
          properties: {
            type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
            path: { type: 'string' },
            diff: { type: 'string', description: DIFF },
          },
          required: ['type', 'path'],
        },
      },
      required: ['operation'],
    },
  }),
  async run({ arguments: asked }) {
    const operation = objectAt(asked, 'operation') ?? {};
    const problem = operationProblem(operation);
    if (problem !== undefined) return toolFailure(problem, { operation });
    return { output: JSON.stringify({ status: 'handed to the user' }), shown: { operation }, ends: true };
  },
};

/** The problem of an `engine` that is not among those of the tool; the vendor's name stands for the gateway. */
function otherEngine(engine: Json | undefined, engines: readonly string[]): ToolIssue | undefined {
  if (engine === undefined || engines.includes(engine as string)) return undefined;
  return { path: 'parameters.engine', message: `must be one of ${engines.join(', ')}` };
}
