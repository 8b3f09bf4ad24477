import { SERVICE_DEFAULTS, type UpdateGuardrail } from '../../contract/guardrails/guardrail.ts';
import { nanosOf } from '../../kit/money.ts';
import type { GuardrailSettings } from '../../ports/tenancy/guardrails.ts';
import { ZDR_FAMILIES } from '../../ports/tenancy/guardrails.ts';

/** Request member -> stored name, of what is stored as it is given. */
const STORED_NAMES = {
  name: 'name',
  description: 'description',
  reset_interval: 'resetInterval',
  include_byok_in_budgets: 'includeByokInBudgets',
  allowed_providers: 'allowedProviders',
  ignored_providers: 'ignoredProviders',
  enable_paid_model_training: 'enablePaidModelTraining',
  enable_free_model_training: 'enableFreeModelTraining',
  enable_free_model_publication: 'enableFreeModelPublication',
  allowed_data_regions: 'allowedDataRegions',
} as const satisfies Partial<Record<keyof UpdateGuardrail, keyof GuardrailSettings>>;

/** The canonical slug of a model; the name itself if there is no such model. */
export type CanonicalModel = (name: string) => string;

/** The stored form of the members that are given. `current`: what the guardrail enforces so far. */
export function guardrailChangeOf(
  wanted: UpdateGuardrail,
  current: Pick<GuardrailSettings, 'enforceZdr'>,
  canonical: CanonicalModel,
): Partial<GuardrailSettings> {
  const {
    limit_usd: limit,
    allowed_models: allowed,
    ignored_models: ignored,
    content_filter_builtins: builtins,
    content_filters: filters,
    service,
  } = wanted;
  const canonicalOf = (names: readonly string[] | null) => names && [...new Set(names.map(canonical))];
  return {
    ...storedAsGiven(wanted),
    ...(limit !== undefined && { limitNanos: limit === null ? null : nanosOf(limit) }),
    ...(allowed !== undefined && { allowedModels: canonicalOf(allowed) }),
    ...(ignored !== undefined && { ignoredModels: canonicalOf(ignored) }),
    ...enforcedZdr(wanted, current),
    ...(builtins !== undefined && {
      builtins:
        builtins?.map(({ slug, action, scan_scope: scanScope = 'all_messages' }) => ({
          slug,
          action,
          scanScope,
        })) ?? null,
    }),
    ...(filters !== undefined && {
      filters: filters?.map(({ pattern, action, label = null }) => ({ pattern, action, label })) ?? null,
    }),
    ...(service !== undefined && {
      service: service && {
        url: service.url,
        timeoutMs: service.timeout_ms ?? SERVICE_DEFAULTS.timeoutMs,
        retries: service.retries ?? SERVICE_DEFAULTS.retries,
        onFailure: service.on_failure ?? SERVICE_DEFAULTS.onFailure,
        windowCharacters: service.window_characters ?? SERVICE_DEFAULTS.windowCharacters,
      },
    }),
  };
}

function storedAsGiven(wanted: UpdateGuardrail): Partial<GuardrailSettings> {
  return Object.fromEntries(
    Object.entries(STORED_NAMES)
      .map(([member, stored]) => [stored, wanted[member as keyof typeof STORED_NAMES]])
      .filter(([, value]) => value !== undefined),
  );
}

/** `enforce_zdr` stands for those families that are not given. */
function enforcedZdr(
  wanted: UpdateGuardrail,
  { enforceZdr: current }: Pick<GuardrailSettings, 'enforceZdr'>,
): Partial<GuardrailSettings> {
  const wantedFor = (family: (typeof ZDR_FAMILIES)[number]) => {
    const given = wanted[`enforce_zdr_${family}`];
    return given === undefined ? wanted.enforce_zdr : given;
  };
  if (ZDR_FAMILIES.every((family) => wantedFor(family) === undefined)) return {};
  return {
    enforceZdr: Object.fromEntries(
      ZDR_FAMILIES.map((family) => {
        const value = wantedFor(family);
        return [family, value === undefined ? current[family] : value];
      }),
    ) as GuardrailSettings['enforceZdr'],
  };
}
