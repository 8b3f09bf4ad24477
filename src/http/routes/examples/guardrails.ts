import type {
  CreateGuardrail,
  GuardrailObject,
  UpdateGuardrail,
} from '../../../contract/guardrails/guardrail.ts';
import type { GuardrailTrial, GuardrailVerdict } from '../../../contract/guardrails/trial.ts';
import type { RouteExample } from '../../route.ts';
import { WORKSPACE_ID } from './ids.ts';

export const GUARDRAIL_ID = '7d1e6f1c-52a3-4c0f-9a39-0f8e1b1f6a52';

const GUARDRAIL = {
  id: GUARDRAIL_ID,
  name: 'Personal data',
  description: null,
  workspace_id: WORKSPACE_ID,
  limit_usd: 50,
  reset_interval: 'daily',
  include_byok_in_budgets: false,
  allowed_providers: null,
  ignored_providers: null,
  allowed_models: null,
  ignored_models: null,
  enforce_zdr: null,
  enforce_zdr_anthropic: null,
  enforce_zdr_openai: null,
  enforce_zdr_google: null,
  enforce_zdr_xai: null,
  enforce_zdr_other: null,
  enable_paid_model_training: null,
  enable_free_model_training: null,
  enable_free_model_publication: null,
  allowed_data_regions: null,
  content_filter_builtins: [{ slug: 'email', action: 'redact', label: '[EMAIL]' }],
  content_filters: [{ pattern: 'PROJ-[0-9]{4}', action: 'block', label: 'Project number' }],
  service: null,
  created_at: '2026-11-17T05:17:05.423Z',
  updated_at: null,
  managed_by: null,
} satisfies GuardrailObject;

const BY_ID = { id: GUARDRAIL_ID };

/** Guardrails. */
export const GUARDRAIL_EXAMPLES = {
  createGuardrail: {
    body: {
      name: 'Personal data',
      limit_usd: 50,
      reset_interval: 'daily',
      content_filter_builtins: [{ slug: 'email', action: 'redact' }],
      content_filters: [{ pattern: 'PROJ-[0-9]{4}', action: 'block', label: 'Project number' }],
    } satisfies CreateGuardrail,
    answer: { data: GUARDRAIL },
  },
  listGuardrails: { answer: { data: [GUARDRAIL], total_count: 1 } },
  getGuardrail: { params: BY_ID, answer: { data: GUARDRAIL } },
  updateGuardrail: {
    params: BY_ID,
    body: { limit_usd: 20 } satisfies UpdateGuardrail,
    answer: { data: { ...GUARDRAIL, limit_usd: 20, updated_at: '2026-11-17T05:18:41.007Z' } },
  },
  testGuardrail: {
    params: BY_ID,
    body: { text: 'Write to ada@example.com' } satisfies GuardrailTrial,
    answer: {
      data: {
        action: 'redacted',
        text: 'Write to [EMAIL]',
        findings: [
          {
            name: 'email',
            label: 'Email address',
            kind: 'content-filter',
            engine: 'regex',
            action: 'redact',
            start: 9,
            end: 24,
            text: 'ada@example.com',
            redaction: '[EMAIL]',
          },
        ],
        failures: [],
      } satisfies GuardrailVerdict,
    },
  },
  deleteGuardrail: { params: BY_ID, answer: { deleted: true } },
} as const satisfies Record<string, RouteExample>;
