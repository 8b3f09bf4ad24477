import type { Caller } from '../../ports/tenancy/caller.ts';
import type { GatewaySettings } from './settings.ts';

/** The settings for a caller: without the providers that do not serve its workspace. */
export function settingsSeenBy(
  { workspaceId }: Pick<Caller, 'workspaceId'>,
  settings: GatewaySettings,
): GatewaySettings {
  const { catalog } = settings;
  if (catalog.seenFrom === undefined) return settings;
  const seen = catalog.seenFrom(workspaceId);
  return seen === catalog ? settings : { ...settings, catalog: seen };
}
