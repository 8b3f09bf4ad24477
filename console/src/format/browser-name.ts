/** Browsers by a word of their user agent. Most name others too, so the order decides. */
const BROWSERS: readonly (readonly [word: RegExp, name: string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(?:Headless)?Chrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [word: RegExp, name: string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** A user agent as people say it: Chrome on Linux. One that is no browser's is shown up to its first space. */
export function browserName(userAgent: string): string {
  const named = (table: typeof BROWSERS) => table.find(([word]) => word.test(userAgent))?.[1];
  const browser = named(BROWSERS) ?? userAgent.split(' ', 1)[0] ?? '';
  const system = named(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
