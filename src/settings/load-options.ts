import { KNOWN_PROVIDERS } from '../catalog/providers/known-providers.ts';
import { configuredIdIssues } from '../catalog/virtual-ids.ts';
import type { LoadOptions } from '../config/load.ts';
import type { Flags } from '../config/runtime.ts';
import type { Presets } from '../dialects/shared/presets/preset.ts';
import { likelyCatalogueMistakes } from '../gateway/request/likely-catalogue-mistakes.ts';
import { createPresetCheck } from '../gateway/request/preset-issues.ts';
import { declarationProblems } from '../manage/declared/declaration-problems.ts';

export function loadOptions(flags: Flags): LoadOptions {
  const check = createPresetCheck();
  return {
    flags,
    knownProviders: KNOWN_PROVIDERS,
    presetCheck: (presets, vendor) => check(presets as Presets, vendor),
    modelCheck: configuredIdIssues,
    declarationCheck: declarationProblems,
    likelyMistakes: likelyCatalogueMistakes,
  };
}
