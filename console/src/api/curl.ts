/** A request of the interface, as a script would send it. */
export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base path, such as `/keys`. */
  readonly path: string;
  readonly body?: unknown;
}

/** The request as a command. The key is a variable: the console does not have it. */
export function curlOf({ method, path, body }: ApiCall, base: string, key = 'MANAGEMENT_KEY'): string {
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(`${base}${path}`)}`,
    `-H "Authorization: Bearer $${key}"`,
  ];
  if (body !== undefined) {
    parts.push(`-H ${quoted('Content-Type: application/json')}`, `-d ${quoted(JSON.stringify(body))}`);
  }
  return parts.join(' \\\n  ');
}

/** A text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
