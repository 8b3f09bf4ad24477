import type { Json } from '../kit/json/json.ts';
import { compileValidator, type Issue, type Validator } from '../kit/json/validate.ts';
import type { ServerTool } from './server-tool.ts';

const VALIDATORS = new Map<ServerTool, Validator>();

export function parameterIssues(tool: ServerTool, given: Json): Issue[] {
  const validator = VALIDATORS.get(tool) ?? compileValidator(tool.parameters);
  VALIDATORS.set(tool, validator);
  return validator.issuesOf(given);
}
