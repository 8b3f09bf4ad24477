/**
 * A name as one step of an address. A step of one or two dots would climb in the address, also where the dots are
 * encoded: they are encoded twice, and the upstream is asked for a name that it does not have.
 */
export function pathSegment(name: string): string {
  return /^\.\.?$/.test(name) ? name.replaceAll('.', '%252E') : encodeURIComponent(name);
}
