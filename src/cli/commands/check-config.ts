import { stringify } from 'yaml';
import { loadConfiguration, problemLine } from '../../config/load.ts';
import { redactedConfig, redactedRuntime } from '../../config/redact.ts';
import type { Flags } from '../../config/runtime.ts';
import { loadOptions } from '../../installation.ts';
import { jsonText, type Output } from '../terminal/output.ts';

/** Prints the effective configuration with masked secrets, or its problems. Returns the exit code. */
export function checkConfig(flags: Flags, asJson: boolean, output: Output): number {
  const loading = loadConfiguration(loadOptions(flags));
  if (!loading.ok) {
    if (asJson) output.out(jsonText({ problems: loading.problems }));
    output.err(loading.problems.map((problem) => `${problemLine(problem)}\n`).join(''));
    return 1;
  }
  const { config, file, runtime, warnings } = loading.loaded;
  const started = redactedRuntime(runtime);
  if (asJson) {
    output.out(jsonText({ ...redactedConfig(config), runtime: { config_file: file ?? null, ...started } }));
  } else {
    const head = { config_file: file ?? 'none', ...started };
    const lines = Object.entries(head).map(([name, value]) => `# ${name}: ${JSON.stringify(value)}\n`);
    output.out(`${lines.join('')}${stringify(redactedConfig(config), { aliasDuplicateObjects: false })}`);
  }
  for (const warning of warnings) output.err(`warning: ${problemLine(warning)}\n`);
  return 0;
}
