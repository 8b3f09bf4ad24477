import type { Guardrail, GuardrailSettings } from '../../ports/tenancy/guardrails.ts';

/** Settings of a guardrail that are not given: nothing is limited, checked or filtered. */
export const GUARDRAIL_DEFAULTS = {
  description: null,
  limitNanos: null,
  resetInterval: null,
  includeByokInBudgets: false,
  allowedProviders: null,
  ignoredProviders: null,
  allowedModels: null,
  ignoredModels: null,
  enforceZdr: { anthropic: null, openai: null, google: null, xai: null, other: null },
  enablePaidModelTraining: null,
  enableFreeModelTraining: null,
  enableFreeModelPublication: null,
  allowedDataRegions: null,
  builtins: null,
  filters: null,
  service: null,
} as const satisfies Omit<GuardrailSettings, 'name' | 'workspaceId'>;

/** Members of a new guardrail; those with defaults are optional. */
export type NewGuardrail = Pick<Guardrail, 'id' | 'accountId' | 'workspaceId' | 'name' | 'createdAtMs'> &
  Partial<Guardrail>;

export function newGuardrail(given: NewGuardrail): Guardrail {
  return { ...GUARDRAIL_DEFAULTS, updatedAtMs: null, fileMember: null, ...given };
}
