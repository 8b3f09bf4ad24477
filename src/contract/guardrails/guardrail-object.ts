import { usdOf } from '../../kit/money.ts';
import type { AssignedCounts, BuiltinSlug, Guardrail } from '../../ports/tenancy/guardrails.ts';
import { isoTime, isoTimeOrNull } from '../values/iso-time.ts';
import { managedBy } from '../values/managed-by.ts';
import { accountGuardrailId, workspaceGuardrailId } from './default-guardrail-ids.ts';
import type { GuardrailObject } from './guardrail.ts';

/** `assigned`: to how many keys and members it is assigned; without it these members are absent. */
export function guardrailObject(guardrail: Guardrail, assigned?: AssignedCounts): GuardrailObject {
  const { limitNanos, enforceZdr, builtins, filters, service } = guardrail;
  const { anthropic, openai, google, xai, other } = enforceZdr;
  return {
    id: guardrail.id,
    name: guardrail.name,
    description: guardrail.description,
    workspace_id: guardrail.workspaceId,
    limit_usd: limitNanos === null ? null : usdOf(limitNanos),
    reset_interval: guardrail.resetInterval,
    include_byok_in_budgets: guardrail.includeByokInBudgets,
    allowed_providers: copyOf(guardrail.allowedProviders),
    ignored_providers: copyOf(guardrail.ignoredProviders),
    allowed_models: copyOf(guardrail.allowedModels),
    ignored_models: copyOf(guardrail.ignoredModels),
    enforce_zdr: [openai, google, xai, other].every((value) => value === anthropic) ? anthropic : null,
    enforce_zdr_anthropic: anthropic,
    enforce_zdr_openai: openai,
    enforce_zdr_google: google,
    enforce_zdr_xai: xai,
    enforce_zdr_other: other,
    enable_paid_model_training: guardrail.enablePaidModelTraining,
    enable_free_model_training: guardrail.enableFreeModelTraining,
    enable_free_model_publication: guardrail.enableFreeModelPublication,
    allowed_data_regions: copyOf(guardrail.allowedDataRegions),
    content_filter_builtins:
      builtins?.map(({ slug, action, scanScope }) => ({
        slug,
        action,
        label: labelOf(slug),
        ...(slug === 'regex-prompt-injection' && { scan_scope: scanScope }),
      })) ?? null,
    content_filters: filters?.map(({ pattern, action, label }) => ({ pattern, action, label })) ?? null,
    service: service && {
      url: service.url,
      timeout_ms: service.timeoutMs,
      retries: service.retries,
      on_failure: service.onFailure,
      window_characters: service.windowCharacters,
    },
    created_at: isoTime(guardrail.createdAtMs),
    updated_at: isoTimeOrNull(guardrail.updatedAtMs),
    default_of: defaultOf(guardrail),
    ...(assigned && { assigned_keys: assigned.key, assigned_members: assigned.member }),
    managed_by: managedBy(guardrail.fileMember),
  };
}

/** Whether a guardrail is the default of its account or of its workspace; null = of neither. */
function defaultOf({ id, accountId, workspaceId }: Guardrail): GuardrailObject['default_of'] {
  if (id === accountGuardrailId(accountId)) return 'account';
  return id === workspaceGuardrailId(workspaceId) ? 'workspace' : null;
}

/** The replacement for a match of a built-in filter: `[EMAIL]`, `[PROMPT_INJECTION]`. */
function labelOf(slug: BuiltinSlug): string {
  return `[${slug.replace('regex-', '').replaceAll('-', '_').toUpperCase()}]`;
}

function copyOf<T>(list: readonly T[] | null): T[] | null {
  return list === null ? null : [...list];
}
