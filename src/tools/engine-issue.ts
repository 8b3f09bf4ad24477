import type { Json } from '../kit/json/json.ts';
import type { ToolIssue } from './server-tool.ts';

/** The problem of an `engine` that is not among those of a tool; the vendor's name stands for the gateway. */
export function engineIssue(engine: Json | undefined, engines: readonly string[]): ToolIssue | undefined {
  if (engine === undefined || engines.includes(engine as string)) return undefined;
  return { path: 'parameters.engine', message: `must be one of ${engines.join(', ')}` };
}
