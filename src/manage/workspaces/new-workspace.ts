import type { Workspace, WorkspaceSettings } from '../../ports/tenancy/tenancy.ts';

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

type Given = Pick<Workspace, 'id' | 'accountId' | 'slug' | 'name' | 'createdAtMs'> & Partial<Workspace>;

/** A new workspace; members that are not given have their defaults. */
export function newWorkspace(given: Given): Workspace {
  return {
    ...DEFAULTS,
    isDefault: false,
    createdBy: null,
    updatedAtMs: null,
    fileMember: null,
    budgetsFileMember: null,
    hasContentReaders: false,
    ...given,
  };
}
