import { urlOf } from './url-of.ts';

export interface TraceUrlValues {
  readonly trace_id: string;
  /** The span of the generation in it. */
  readonly span_id: string;
  readonly generation_id: string;
}

/** Placeholders, and whether one of these suffices to find the generation. */
const PLACEHOLDERS: Readonly<Record<keyof TraceUrlValues, boolean>> = {
  trace_id: true,
  span_id: false,
  generation_id: true,
};

const NAMES = Object.keys(PLACEHOLDERS)
  .map((name) => `{${name}}`)
  .join(', ');

const IN_BRACES = /\{([^{}]*)\}|[{}]/g;

export function traceUrl(template: string, values: TraceUrlValues): string {
  return template.replace(IN_BRACES, (found, name: string) =>
    name in PLACEHOLDERS ? encodeURIComponent(values[name as keyof TraceUrlValues]) : found,
  );
}

export function traceUrlProblem(template: string): string | undefined {
  const used = [...template.matchAll(IN_BRACES)].map(([found, name]) => ({ found, name: name ?? '' }));
  const unknown = used.find(({ name }) => !Object.hasOwn(PLACEHOLDERS, name));
  if (unknown !== undefined) {
    return `has ${unknown.found}, which is no placeholder: there are ${NAMES}; other braces are %7B and %7D`;
  }
  if (!used.some(({ name }) => PLACEHOLDERS[name as keyof TraceUrlValues])) {
    return 'needs {trace_id} or {generation_id}: without one, all generations have the same link';
  }
  const url = urlOf(template);
  if (url === undefined || !/^https?:$/.test(url.protocol)) return 'must be an http or https address';
  if (url.username !== '' || url.password !== '') return 'must not hold a user or password: browsers open it';
  if (/^https?:\/\/[^/?#]*[{}]/i.test(template)) return 'must have its placeholders behind the host';
  return undefined;
}
