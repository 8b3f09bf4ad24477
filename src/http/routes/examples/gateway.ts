import type {
  ConfigurationObject,
  FindingsObject,
  PresetObject,
} from '../../../contract/gateway/configuration.ts';
import type { PriceChangeObject } from '../../../contract/gateway/price-change.ts';
import type { EndpointStateObject, ProviderStateObject } from '../../../contract/gateway/provider-state.ts';
import type { RouteExample } from '../../route.ts';

const CAUSE = { kind: 'upstream-overloaded', status: 529, code: 'overloaded_error', errno: null };

const HISTORY = { slot_seconds: 900, calls: [0, 12, 31], failures: [0, 0, 5] };

const UPTIME = {
  last_1d: { percent: 97.9, calls: 2381, failures: 50 },
  last_7d: { percent: 99.71, calls: 17_204, failures: 50 },
  last_30d: { percent: 99.71, calls: 17_204, failures: 50 },
  days: { calls: [0, 14_823, 2381], failures: [0, 0, 50] },
};

/** The state of the installation. */
export const GATEWAY_EXAMPLES = {
  listProviderStates: {
    answer: {
      data: [
        {
          slug: 'anthropic',
          name: 'Anthropic',
          is_on: true,
          dialect: 'messages',
          hosts: ['api.anthropic.com'],
          credential: { source: 'environment', variables: [{ name: 'ANTHROPIC_API_KEY', is_set: true }] },
          data_policy: { trains: false, retains_prompts: true },
          models: 9,
          endpoints: 9,
          endpoints_out: 1,
          endpoints_limited: 0,
          endpoints_unstable: 0,
          history: HISTORY,
          uptime: UPTIME,
          latency_p50: 612,
          last_failure: {
            at: '2026-11-17T14:59:12.000Z',
            model: 'anthropic/claude-sonnet-5.5',
            status: 529,
            errno: null,
            is_over: false,
          },
          changes: [
            {
              at: '2026-11-17T14:59:12.000Z',
              kind: 'cooling',
              model: 'anthropic/claude-sonnet-5.5',
              endpoint: 'anthropic',
              is_of_one_account: false,
              seconds: 30,
              failures: 5,
              cause: CAUSE,
            },
          ],
        } satisfies ProviderStateObject,
      ],
    },
  },
  listEndpointStates: {
    query: { provider: 'anthropic' },
    answer: {
      data: [
        {
          model: 'anthropic/claude-sonnet-5.5',
          endpoint: 'anthropic',
          provider: 'anthropic',
          state: 'cooling',
          paused_until: null,
          cooldown: { until: '2026-11-17T14:59:42.000Z', accounts: 0, cause: CAUSE },
          uptime_last_30m: 88.37,
          uptime_last_1d: 97.9,
          uptime: UPTIME,
          latency_last_30m: { p50: 612, p75: 790, p90: 1040, p99: 2210 },
          throughput_last_30m: { p50: 121, p75: 98, p90: 80, p99: 41 },
          history: HISTORY,
        } satisfies EndpointStateObject,
      ],
    },
  },
  listPriceChanges: {
    query: { model: 'anthropic/claude-sonnet-5.5' },
    answer: {
      data: [
        {
          model: 'anthropic/claude-sonnet-5.5',
          endpoint: 'anthropic',
          member: 'completion',
          min_prompt_tokens: 0,
          at: '2026-10-14T09:00:00.000Z',
          before: '0.000015',
          after: '0.00001',
          is_first: false,
        } satisfies PriceChangeObject,
      ],
      total_count: 1,
    },
  },
  listPresets: {
    answer: {
      data: [
        {
          slug: 'careful',
          fields: { model: 'anthropic/claude-sonnet-5.5', temperature: 0 },
        } satisfies PresetObject,
      ],
    },
  },
  getConfiguration: {
    query: { section: 'server' },
    answer: {
      data: {
        file: '/etc/signalbox/signalbox.yaml',
        in_force_since: '2026-11-17T09:14:03.000Z',
        last_reload: {
          at: '2026-11-17T11:02:44.000Z',
          is_accepted: false,
          problems: [{ path: 'server.drain', message: 'is not a known field', line: 12, hint: null }],
          waiting_keys: [],
        },
        warnings: [],
        total_count: 1,
        values: [
          {
            key: 'server.host',
            value: '0.0.0.0',
            source: { kind: 'file', line: 11, variables: [], flag: null },
          },
        ],
      } satisfies ConfigurationObject,
    },
  },
  listFindings: {
    answer: {
      data: {
        at: '2026-11-17T15:00:00.000Z',
        verdict: 'warning',
        findings: [
          {
            check: 'providers',
            verdict: 'warning',
            what: 'azure has no credential, so it will refuse all calls but those with a BYOK credential',
            mend: 'set its api_key, or its environment variable',
          },
        ],
      } satisfies FindingsObject,
    },
  },
} satisfies Record<string, RouteExample>;
