import type { UpdateDestination } from '../../contract/destinations/destination.ts';
import type { DestinationEdit, FilterRules } from '../../ports/following/destinations.ts';

/** Settings of a destination that are not given: everything but its particulars is sent. */
export const DESTINATION_DEFAULTS = {
  isEnabled: true,
  privacyMode: false,
  samplingRate: 1,
  apiKeyHashes: null,
  filterRules: null,
  sendsCost: false,
  sendsIdentity: false,
  sendsRequestContext: false,
} as const satisfies DestinationEdit;

/** Request member -> stored name, of what is stored as it is given. */
const STORED_NAMES = {
  name: 'name',
  enabled: 'isEnabled',
  privacy_mode: 'privacyMode',
  sampling_rate: 'samplingRate',
  api_key_hashes: 'apiKeyHashes',
  broadcast_generation_cost: 'sendsCost',
  broadcast_generation_identity: 'sendsIdentity',
  broadcast_generation_request_context: 'sendsRequestContext',
} as const satisfies Partial<Record<keyof UpdateDestination, keyof DestinationEdit>>;

/** Settings of a destination without its configuration. */
export type WantedSettings = Omit<UpdateDestination, 'config'>;

export function destinationChangeOf(wanted: WantedSettings): DestinationEdit {
  const { filter_rules: rules } = wanted;
  return {
    ...Object.fromEntries(
      Object.entries(STORED_NAMES)
        .map(([member, stored]) => [stored, wanted[member as keyof typeof STORED_NAMES]])
        .filter(([, value]) => value !== undefined),
    ),
    ...(rules !== undefined && { filterRules: rulesOf(rules) }),
  };
}

/** Rules as requests and the configuration file give them: in the file, null counts as absent. */
interface GivenRules {
  readonly enabled?: boolean | null | undefined;
  readonly groups: readonly {
    readonly logic?: 'and' | 'or' | null | undefined;
    readonly rules: readonly {
      readonly field: string;
      readonly operator: string;
      readonly value?: string | number | null | undefined;
    }[];
  }[];
}

export function rulesOf(rules: GivenRules | null | undefined): FilterRules | null {
  if (rules === null || rules === undefined) return null;
  return {
    isEnabled: rules.enabled ?? true,
    groups: rules.groups.map(({ logic, rules: inGroup }) => ({
      logic: logic ?? 'and',
      rules: inGroup.map(({ field, operator, value = null }) => ({ field, operator, value })),
    })),
  };
}
