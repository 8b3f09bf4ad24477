import type { CreateWorkspace, UpdateWorkspace, WorkspaceObject } from '../../api/contract.ts';
import type { Problems } from '../../parts/form/use-form.ts';

/** The fields of a workspace, as text while they are typed. Their names are those of the interface. */
export interface WorkspaceValues {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly default_text_model: string;
  /** Empty = the gateway's order. */
  readonly default_provider_sort: string;
  readonly is_observability_io_logging_enabled: boolean;
  /** Per cent of the requests. */
  readonly io_logging_sampling_rate: string;
  readonly is_observability_broadcast_enabled: boolean;
}

export function workspaceValues(workspace: WorkspaceObject | null): WorkspaceValues {
  return {
    name: workspace?.name ?? '',
    slug: workspace?.slug ?? '',
    description: workspace?.description ?? '',
    default_text_model: workspace?.default_text_model ?? '',
    default_provider_sort: workspace?.default_provider_sort ?? '',
    is_observability_io_logging_enabled: workspace?.is_observability_io_logging_enabled ?? false,
    io_logging_sampling_rate: String(Number(((workspace?.io_logging_sampling_rate ?? 1) * 100).toFixed(2))),
    is_observability_broadcast_enabled: workspace?.is_observability_broadcast_enabled ?? false,
  };
}

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** A slug for a name: "Research team" is `research-team`. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mn}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 50)
    .replace(/-$/, '');
}

export function workspaceProblems(values: WorkspaceValues): Problems<WorkspaceValues> {
  const share = Number(values.io_logging_sampling_rate);
  return {
    ...(values.name.trim() === '' && { name: 'Give it a name.' }),
    ...(!SLUG.test(values.slug) && {
      slug: 'Lower-case letters, digits and single hyphens between them, such as research-team.',
    }),
    ...(!(share >= 0.01 && share <= 100) && {
      io_logging_sampling_rate: 'A share from 0.01 to 100 per cent.',
    }),
  };
}

/** The members of a request: what is empty is null. */
function members(values: WorkspaceValues): CreateWorkspace {
  const orNull = (text: string) => (text.trim() === '' ? null : text.trim());
  return {
    name: values.name.trim(),
    slug: values.slug,
    description: orNull(values.description),
    default_text_model: orNull(values.default_text_model),
    default_provider_sort: orNull(values.default_provider_sort) as NonNullable<
      CreateWorkspace['default_provider_sort']
    > | null,
    is_observability_io_logging_enabled: values.is_observability_io_logging_enabled,
    io_logging_sampling_rate: Number(values.io_logging_sampling_rate) / 100,
    is_observability_broadcast_enabled: values.is_observability_broadcast_enabled,
  };
}

/** The body of `POST /workspaces`, or of `PATCH /workspaces/{id}` with what differs. */
export function workspaceBody(
  values: WorkspaceValues,
  workspace: WorkspaceObject | null,
): CreateWorkspace | UpdateWorkspace {
  const wanted = members(values);
  if (workspace === null) return wanted;
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => workspace[name as keyof WorkspaceObject] !== value),
  );
}
