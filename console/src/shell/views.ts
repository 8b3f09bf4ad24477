import type { ComponentType } from 'preact';
import type { IconName } from '../parts/icon.tsx';

/** One row of the navigation. A view is loaded when it is first opened. */
export interface View {
  /** First part of its address. */
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** Heading in the navigation; null = at the top. */
  readonly group: 'Routing' | 'Access' | 'Gateway' | null;
  /** Opens it after G; null = no shortcut. */
  readonly shortcut: string | null;
  /** Whether keys that are no management keys see it: it then shows that key alone. */
  readonly isForAnyKey: boolean;
  /** In the navigation only until the steps of the first run are done or skipped. */
  readonly isOnlyAtFirst?: boolean;
  readonly load: () => Promise<ComponentType>;
}

/** All views, in the order of the navigation. */
export const VIEWS: readonly View[] = [
  {
    path: '/start',
    title: 'Start',
    icon: 'start',
    group: null,
    shortcut: null,
    isForAnyKey: false,
    isOnlyAtFirst: true,
    load: async () => (await import('../views/start/start.tsx')).Start,
  },
  {
    path: '/',
    title: 'Overview',
    icon: 'overview',
    group: null,
    shortcut: 'o',
    isForAnyKey: true,
    load: async () => (await import('../views/overview/overview.tsx')).OverviewView,
  },
  {
    path: '/log',
    title: 'Log',
    icon: 'log',
    group: null,
    shortcut: 'l',
    isForAnyKey: true,
    load: async () => (await import('../views/log/log.tsx')).Log,
  },
  {
    path: '/conversations',
    title: 'Conversations',
    icon: 'conversations',
    group: null,
    shortcut: 'c',
    isForAnyKey: true,
    load: async () => (await import('../views/conversations/conversations.tsx')).Conversations,
  },
  {
    path: '/playground',
    title: 'Playground',
    icon: 'playground',
    group: null,
    shortcut: 'p',
    isForAnyKey: true,
    load: async () => (await import('../views/playground/playground.tsx')).Playground,
  },
  {
    path: '/analytics',
    title: 'Analytics',
    icon: 'analytics',
    group: null,
    shortcut: 'a',
    isForAnyKey: false,
    load: async () => (await import('../views/analytics/analytics.tsx')).AnalyticsView,
  },
  {
    path: '/models',
    title: 'Models',
    icon: 'models',
    group: 'Routing',
    shortcut: 'm',
    isForAnyKey: false,
    load: async () => (await import('../views/models/models.tsx')).Models,
  },
  {
    path: '/providers',
    title: 'Providers',
    icon: 'providers',
    group: 'Routing',
    shortcut: null,
    isForAnyKey: false,
    load: async () => (await import('../views/providers/providers.tsx')).Providers,
  },
  {
    path: '/presets',
    title: 'Presets',
    icon: 'presets',
    group: 'Routing',
    shortcut: null,
    isForAnyKey: false,
    load: async () => (await import('../views/presets/presets.tsx')).Presets,
  },
  {
    path: '/keys',
    title: 'Keys',
    icon: 'keys',
    group: 'Access',
    shortcut: 'k',
    isForAnyKey: false,
    load: async () => (await import('../views/keys/keys.tsx')).Keys,
  },
  {
    path: '/workspaces',
    title: 'Workspaces',
    icon: 'workspaces',
    group: 'Access',
    shortcut: null,
    isForAnyKey: false,
    load: async () => (await import('../views/workspaces/workspaces.tsx')).Workspaces,
  },
  {
    path: '/members',
    title: 'Members',
    icon: 'members',
    group: 'Access',
    shortcut: null,
    isForAnyKey: false,
    load: async () => (await import('../views/members/members.tsx')).Members,
  },
  {
    path: '/credentials',
    title: 'Provider keys',
    icon: 'credentials',
    group: 'Access',
    shortcut: null,
    isForAnyKey: false,
    load: async () => (await import('../views/credentials/credentials.tsx')).Credentials,
  },
  {
    path: '/guardrails',
    title: 'Guardrails',
    icon: 'guardrails',
    group: 'Access',
    shortcut: null,
    isForAnyKey: false,
    load: async () => (await import('../views/guardrails/guardrails.tsx')).Guardrails,
  },
  {
    path: '/sessions',
    title: 'Signed-in browsers',
    icon: 'clock',
    group: 'Access',
    shortcut: null,
    isForAnyKey: true,
    load: async () => (await import('../views/sessions/sessions.tsx')).Sessions,
  },
  {
    path: '/files',
    title: 'Files',
    icon: 'files',
    group: 'Gateway',
    shortcut: null,
    isForAnyKey: false,
    load: async () => (await import('../views/files/files.tsx')).Files,
  },
  {
    path: '/apps',
    title: 'Apps',
    icon: 'apps',
    group: 'Gateway',
    shortcut: null,
    isForAnyKey: false,
    load: async () => (await import('../views/apps/apps.tsx')).Apps,
  },
  {
    path: '/destinations',
    title: 'Destinations',
    icon: 'outside',
    group: 'Gateway',
    shortcut: null,
    isForAnyKey: false,
    load: async () => (await import('../views/destinations/destinations.tsx')).Destinations,
  },
  {
    path: '/classifiers',
    title: 'Classifiers',
    icon: 'label',
    group: 'Gateway',
    shortcut: null,
    isForAnyKey: false,
    load: async () => (await import('../views/classifiers/classifiers.tsx')).Classifiers,
  },
  {
    path: '/configuration',
    title: 'Configuration',
    icon: 'configuration',
    group: 'Gateway',
    shortcut: null,
    isForAnyKey: false,
    load: async () => (await import('../views/configuration/configuration.tsx')).Configuration,
  },
];

/** The view of an address; undefined = there is none. */
export function viewAt(path: string): View | undefined {
  if (path.startsWith('//')) return undefined;
  const first = `/${path.split('/')[1] ?? ''}`;
  return VIEWS.find((view) => view.path === first);
}
