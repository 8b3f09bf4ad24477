import { advisor } from './advisor.ts';
import { applyPatch } from './apply-patch/apply-patch.ts';
import { datetime } from './datetime.ts';
import { files } from './files.ts';
import { fusion } from './fusion/fusion.ts';
import { imageGeneration } from './image-generation.ts';
import { bash } from './sandbox/bash.ts';
import { codeInterpreter } from './sandbox/code-interpreter.ts';
import { shell } from './sandbox/shell.ts';
import { searchModels } from './search-models.ts';
import type { ServerTool } from './server-tool.ts';
import { subagent } from './subagent.ts';
import { webFetch } from './web-fetch.ts';
import { webSearch } from './web-search.ts';

const TOOLS: readonly ServerTool[] = [
  datetime,
  webSearch,
  webFetch,
  searchModels,
  advisor,
  subagent,
  fusion,
  files,
  applyPatch,
  imageGeneration,
  bash,
  shell,
  codeInterpreter,
];

/** All server tools that are built, by their short names. */
export const SERVER_TOOLS: ReadonlyMap<string, ServerTool> = new Map(TOOLS.map((tool) => [tool.name, tool]));

/** The server tool that runs a type of the formats if the upstream does not; undefined = none. */
export function toolForHosted(type: string): ServerTool | undefined {
  for (const tool of SERVER_TOOLS.values()) if (tool.hostedTypes?.test(type) === true) return tool;
  return undefined;
}
