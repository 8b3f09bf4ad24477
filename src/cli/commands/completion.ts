import { bashScript } from '../completion/bash.ts';
import { fishScript } from '../completion/fish.ts';
import { zshScript } from '../completion/zsh.ts';
import type { CommandResult } from '../terminal/output.ts';

const SCRIPTS: Readonly<Record<string, () => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export function completionScript(shell: string): CommandResult<{ shell: string; script: string }> {
  const script = SCRIPTS[shell]?.() ?? '';
  return { result: { shell, script }, text: script };
}
