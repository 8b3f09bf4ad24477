import type { CallableTool } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { stringAt } from '../../../kit/json/members.ts';

/**
 * Tools that the messages format defines and the caller runs. Models of Anthropic know them by their type; other
 * models get a function of the same name and arguments.
 */

interface ClientTool {
  readonly types: RegExp;
  readonly description: string;
  readonly parameters: JsonObject;
}

const text = (description: string): JsonObject => ({ type: 'string', description });

const CLIENT_TOOLS: readonly ClientTool[] = [
  {
    types: /^bash_\d{8}$/,
    description: 'Runs a command in a bash session that keeps its state between calls.',
    parameters: {
      type: 'object',
      properties: {
        command: text('The command; required unless the session is restarted'),
        restart: { type: 'boolean', description: 'True restarts the session' },
      },
    },
  },
  {
    types: /^text_editor_\d{8}$/,
    description:
      'Views and edits files. view: shows a file with line numbers, or the entries of a folder. create: writes ' +
      'file_text. str_replace: replaces old_str, which must occur exactly once, by new_str. insert: puts the text ' +
      'after the line insert_line.',
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert'] },
        path: text('Path of the file or folder'),
        file_text: text('create: the whole file'),
        old_str: text('str_replace: the text that is replaced'),
        new_str: text('str_replace: the new text. insert: the text'),
        insert_text: text('insert: the text'),
        insert_line: { type: 'integer', minimum: 0, description: 'insert: the line before it, 0 = none' },
        view_range: {
          type: 'array',
          items: { type: 'integer' },
          description: 'view: first and last line, -1 = the end',
        },
      },
      required: ['command', 'path'],
    },
  },
  {
    types: /^memory_\d{8}$/,
    description:
      'Keeps notes between conversations, as files below /memories. view: shows a file with line numbers, or the ' +
      'entries of a folder. create: writes file_text. str_replace: replaces old_str, which must occur exactly once, ' +
      'by new_str. insert: puts insert_text after the line insert_line. delete: removes a file or folder. rename: ' +
      'moves old_path to new_path. Look at /memories before a task, and note there what later ones need.',
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
        path: text('Path of the file or folder; of every command but rename'),
        file_text: text('create: the whole file'),
        old_str: text('str_replace: the text that is replaced'),
        new_str: text('str_replace: the new text'),
        insert_line: { type: 'integer', minimum: 0, description: 'insert: the line before it, 0 = none' },
        insert_text: text('insert: the text'),
        view_range: {
          type: 'array',
          items: { type: 'integer' },
          description: 'view: first and last line, -1 = the end',
        },
        old_path: text('rename: the path so far'),
        new_path: text('rename: the new path'),
      },
      required: ['command'],
    },
  },
];

/** The function that stands for a tool of the messages format that its caller runs; undefined = it is none of these. */
export function functionOfTool(value: JsonObject): CallableTool | undefined {
  const type = stringAt(value, 'type') ?? '';
  const name = stringAt(value, 'name');
  const tool = CLIENT_TOOLS.find(({ types }) => types.test(type));
  if (tool === undefined || name === undefined) return undefined;
  const { description, parameters } = tool;
  return { type: 'function', name, description, parameters, strict: false };
}
