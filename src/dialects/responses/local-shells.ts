import type { ItemStatus, ToolCallItem } from '../../ir/items.ts';
import type { CallableTool, Tool } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt, stringAt, stringsAt } from '../../kit/json/members.ts';
import { inputObject } from '../shared/tools/call-input.ts';

/**
 * Shells of this format that the caller runs. Models of other dialects get a function of the same name and arguments,
 * and its calls are written as the format's own items.
 */

/** Types of these tools. */
export type LocalShell = 'shell' | 'local_shell';

const strings: JsonObject = { type: 'array', items: { type: 'string' } };

interface ShellForm {
  readonly description: string;
  readonly parameters: JsonObject;
  readonly itemType: string;
  readonly idPrefix: string;
  /** Members of an item besides its ids and status, from the arguments of the call. */
  readonly members: (input: JsonObject) => JsonObject;
}

const FORMS: Readonly<Record<LocalShell, ShellForm>> = {
  shell: {
    description: 'Runs commands in a shell of the user, each on its own, and returns their output.',
    parameters: {
      type: 'object',
      properties: {
        commands: { ...strings, description: 'The commands, as lines of a shell' },
        timeout_ms: { type: 'integer', description: 'Milliseconds for all commands' },
        max_output_length: { type: 'integer', description: 'Characters of output that are returned' },
      },
      required: ['commands'],
    },
    itemType: 'shell_call',
    idPrefix: 'sh_',
    members: (input) => ({
      action: {
        commands: [...commandsIn(input)],
        timeout_ms: numberOrNull(input.timeout_ms),
        max_output_length: numberOrNull(input.max_output_length),
      },
      environment: { type: 'local' },
    }),
  },
  local_shell: {
    description: 'Runs a command on the machine of the user and returns its output.',
    parameters: {
      type: 'object',
      properties: {
        command: { ...strings, description: 'The program and its arguments' },
        working_directory: { type: 'string' },
        env: { type: 'object', additionalProperties: { type: 'string' } },
        timeout_ms: { type: 'integer', description: 'Milliseconds for the command' },
        user: { type: 'string', description: 'The user to run as' },
      },
      required: ['command'],
    },
    itemType: 'local_shell_call',
    idPrefix: 'lsh_',
    members: (input) => ({
      action: compact({
        type: 'exec',
        command: [...(stringsAt(input, 'command') ?? [])] as string[],
        env: objectAt(input, 'env') ?? {},
        timeout_ms: numberOrNull(input.timeout_ms) ?? undefined,
        user: stringAt(input, 'user'),
        working_directory: stringAt(input, 'working_directory'),
      }),
    }),
  },
};

export const SHELL_CALLS: ReadonlySet<string> = new Set(Object.values(FORMS).map(({ itemType }) => itemType));

function commandsIn(input: JsonObject): readonly string[] {
  const only = stringAt(input, 'commands');
  return only === undefined ? (stringsAt(input, 'commands') ?? []) : [only];
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** The function that stands for a shell of the caller; undefined = the tool is none. */
export function functionOfTool(value: JsonObject, tools: readonly Tool[]): CallableTool | undefined {
  const shell = shellOf(value);
  if (shell === undefined) return undefined;
  const { description, parameters } = FORMS[shell];
  return { type: 'function', name: freeName(shell, tools), description, parameters, strict: false };
}

function shellOf(value: JsonObject): LocalShell | undefined {
  if (value.type === 'local_shell') return 'local_shell';
  if (value.type !== 'shell') return undefined;
  return ['local', undefined].includes(stringAt(objectAt(value, 'environment'), 'type'))
    ? 'shell'
    : undefined;
}

function freeName(shell: LocalShell, tools: readonly Tool[]): string {
  let name: string = shell;
  for (let count = 2; isTaken(name, tools); count++) name = `${shell}_${count}`;
  return name;
}

function isTaken(name: string, tools: readonly Tool[]): boolean {
  return tools.some((tool) => tool.type !== 'hosted' && tool.name === name);
}

const SHELL_NAME = /^(?:local_)?shell(?:_\d+)?$/;

/** The shell of the caller that a call is meant for; undefined = it calls another tool. */
export function shellCalled(
  { kind, name }: Pick<ToolCallItem, 'kind' | 'name'>,
  tools: readonly Tool[],
): LocalShell | undefined {
  if (kind !== 'function' || !SHELL_NAME.test(name) || isTaken(name, tools)) return undefined;
  const called: LocalShell = name.startsWith('local_') ? 'local_shell' : 'shell';
  const isAsked = tools.some((tool) => tool.type === 'hosted' && shellOf(tool.value) === called);
  return isAsked ? called : undefined;
}

export function shellIdPrefix(shell: LocalShell): string {
  return FORMS[shell].idPrefix;
}

/** The item of a call. Arguments that are no object, or not yet complete, show no commands. */
export function renderShellCall(
  shell: LocalShell,
  { callId, input }: Pick<ToolCallItem, 'callId' | 'input'>,
  id: string,
  status: ItemStatus,
): JsonObject {
  const { itemType, members } = FORMS[shell];
  return { id, type: itemType, call_id: callId, ...members(inputObject(input, undefined) ?? {}), status };
}

/** The commands of a call that is complete, each of which has events of its own. */
export function commandsOf(shell: LocalShell, input: string): readonly string[] {
  return shell === 'shell' ? commandsIn(inputObject(input, undefined) ?? {}) : [];
}
