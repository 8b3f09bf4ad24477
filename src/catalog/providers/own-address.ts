import type { Provider } from '../catalog.ts';

/**
 * True if the configuration gives a provider an address or dialect of its own. The shipped models do not apply there:
 * it serves only models that the configuration lists. False for the simulator, which always has its models.
 */
export function hasOwnAddress({ isPublic, dialect }: Provider): boolean {
  return !isPublic && dialect !== 'simulator';
}

/** The step that lets a provider with an own address serve a model that the catalogue knows. */
export function listModelStep(slug: string): string {
  return `list the model in the configuration, because ${slug} has an address of your own there`;
}
