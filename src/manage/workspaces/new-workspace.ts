import type { Workspace, WorkspaceSettings } from '../../ports/tenancy.ts';

/** What a workspace begins with where nothing else is said. */
const DEFAULTS: Omit<WorkspaceSettings, 'slug' | 'name'> = {
  description: null,
  defaultTextModel: null,
  defaultImageModel: null,
  defaultProviderSort: null,
  isObservabilityIoLoggingEnabled: false,
  isObservabilityBroadcastEnabled: false,
  isDataDiscountLoggingEnabled: false,
  ioLoggingSamplingRate: 1,
  ioLoggingApiKeyIds: null,
  includeByokInBudgets: false,
};

/** What a new workspace must be given. */
type Given = Pick<Workspace, 'id' | 'accountId' | 'slug' | 'name' | 'createdAtMs'> & Partial<Workspace>;

/** A workspace that was never changed. */
export function newWorkspace(given: Given): Workspace {
  return { ...DEFAULTS, isDefault: false, createdBy: null, updatedAtMs: null, ...given };
}
