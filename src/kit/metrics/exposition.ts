import type { MetricFamily } from './metric-family.ts';

/** Media type of the text format that Prometheus and most collectors read. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function expositionOf(families: readonly MetricFamily[]): string {
  return families.map(familyText).join('');
}

function familyText(family: MetricFamily): string {
  let text = `# HELP ${family.name} ${escapedHelp(family.help)}\n# TYPE ${family.name} ${family.type}\n`;
  for (const { suffix = '', labels, value } of family.samples()) {
    text += `${family.name}${suffix}${labelText(labels)} ${value}\n`;
  }
  return text;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapedValue(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapedHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapedValue(text: string): string {
  return escapedHelp(text).replaceAll('"', '\\"');
}
