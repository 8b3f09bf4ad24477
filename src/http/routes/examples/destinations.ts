import type {
  ConnectionTestObject,
  CreateDestination,
  DestinationObject,
  UpdateDestination,
} from '../../../contract/destinations/destination.ts';
import type { DestinationTypes } from '../../../contract/destinations/destination-type.ts';
import type { RouteExample } from '../../route.ts';
import { WORKSPACE_ID } from './ids.ts';

const DESTINATION = {
  id: '5b0f7c1e-64f3-4d0a-9d3b-2f1f4f1c8a07',
  type: 'langfuse',
  name: 'Production traces',
  workspace_id: WORKSPACE_ID,
  config: {
    publicKey: 'pk-...EfGh',
    secretKey: 'sk-...AbCd',
  },
  enabled: true,
  privacy_mode: false,
  sampling_rate: 1,
  api_key_hashes: null,
  filter_rules: null,
  broadcast_generation_cost: false,
  broadcast_generation_identity: false,
  broadcast_generation_request_context: false,
  regions: ['global'],
  created_at: '2026-11-17T05:17:05.423Z',
  updated_at: '2026-11-17T05:17:05.423Z',
  managed_by: null,
  state: { taken: 4213, dropped: 0, waiting: 2, problem: null, since: null },
} satisfies DestinationObject;

const BY_ID = { id: DESTINATION.id };

/** Destinations. */
export const DESTINATION_EXAMPLES = {
  createDestination: {
    body: {
      type: 'langfuse',
      name: 'Production traces',
      config: {
        publicKey: 'pk-lf-0123456789-EfGh',
        secretKey: 'sk-lf-0123456789-AbCd',
      },
    } satisfies CreateDestination,
    answer: { data: { ...DESTINATION, state: null } },
  },
  listDestinations: { answer: { data: [DESTINATION], total_count: 1 } },
  getDestination: { params: BY_ID, answer: { data: DESTINATION } },
  updateDestination: {
    params: BY_ID,
    body: { sampling_rate: 0.1 } satisfies UpdateDestination,
    answer: { data: { ...DESTINATION, sampling_rate: 0.1, updated_at: '2026-11-17T05:18:41.007Z' } },
  },
  testDestination: {
    params: BY_ID,
    answer: { data: { success: true, status: 200, message: null } satisfies ConnectionTestObject },
  },
  deleteDestination: { params: BY_ID, answer: { deleted: true } },
  listDestinationTypes: {
    answer: {
      data: [
        {
          type: 'webhook',
          label: 'Any HTTP service, as OTLP in JSON',
          members: [
            {
              name: 'url',
              description: 'Where requests go, as it is.',
              kind: 'text',
              is_required: true,
              is_secret: false,
              default: null,
              values: null,
            },
          ],
        },
      ],
      filter_fields: [
        { name: 'model', operators: [{ name: 'equals', needs_value: true }], is_number: false },
      ],
    } satisfies DestinationTypes,
  },
} as const satisfies Record<string, RouteExample>;
