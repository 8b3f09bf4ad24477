import type { ConnectionOutcome } from '../../broadcast/connection-test.ts';
import { shownConfig } from '../../broadcast/destination-config.ts';
import type { DestinationState, FilterRules, StatedDestination } from '../../ports/following/destinations.ts';
import { isoTime } from '../values/iso-time.ts';
import { managedBy } from '../values/managed-by.ts';
import type { ConnectionTestObject, DestinationObject } from './destination.ts';

export function destinationObject(destination: StatedDestination): DestinationObject {
  const { filterRules, createdAtMs, updatedAtMs } = destination;
  return {
    id: destination.id,
    type: destination.type,
    name: destination.name,
    workspace_id: destination.workspaceId,
    config: shownConfig(destination),
    enabled: destination.isEnabled,
    privacy_mode: destination.privacyMode,
    sampling_rate: destination.samplingRate,
    api_key_hashes: destination.apiKeyHashes && [...destination.apiKeyHashes],
    filter_rules: filterRules && rulesObject(filterRules),
    broadcast_generation_cost: destination.sendsCost,
    broadcast_generation_identity: destination.sendsIdentity,
    broadcast_generation_request_context: destination.sendsRequestContext,
    regions: ['global'],
    created_at: isoTime(createdAtMs),
    updated_at: isoTime(updatedAtMs ?? createdAtMs),
    managed_by: managedBy(destination.fileMember),
    state: destination.state && stateObject(destination.state),
  };
}

function stateObject({
  problemSinceMs,
  ...state
}: DestinationState): NonNullable<DestinationObject['state']> {
  return { ...state, since: problemSinceMs === null ? null : isoTime(problemSinceMs) };
}

function rulesObject({ isEnabled, groups }: FilterRules): NonNullable<DestinationObject['filter_rules']> {
  return {
    enabled: isEnabled,
    groups: groups.map(({ logic, rules }) => ({
      logic,
      rules: rules.map(({ field, operator, value }) => ({
        field,
        operator,
        ...(value !== null && { value }),
      })),
    })),
  };
}

export function connectionTestObject({ isPassed, status, problem }: ConnectionOutcome): ConnectionTestObject {
  return { success: isPassed, status, message: problem };
}
