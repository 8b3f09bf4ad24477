/**
 * A name as one path segment. One or two dots would climb in the path, also if they are encoded: they are encoded
 * twice, so that the upstream is asked for a name that it does not have.
 */
export function pathSegment(name: string): string {
  return /^\.\.?$/.test(name) ? name.replaceAll('.', '%252E') : encodeURIComponent(name);
}

/** A name as part of a path; slashes in it separate segments. */
export function pathSegments(name: string): string {
  return name.split('/').map(pathSegment).join('/');
}
