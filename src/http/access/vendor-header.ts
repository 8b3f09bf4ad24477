export function vendorHeader(vendor: string, name: string): string {
  const word = vendor.replaceAll(
    /(^|-)([a-z])/g,
    (_, dash: string, letter: string) => dash + letter.toUpperCase(),
  );
  return `X-${word}-${name}`;
}
